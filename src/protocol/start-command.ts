/** The command that starts a worker: with what its file says if it was brought up, else where it is typed. */
export function startsBy(name: string, inPane: boolean): string {
  return `perdure ${inPane ? "up" : "run"} ${name}`;
}
