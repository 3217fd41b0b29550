/** The command that starts a worker: in its pane if it was brought up, in the file or not, else where it is typed. */
export function startsBy(name: string, inPane: boolean): string {
  return `perdure ${inPane ? "restart" : "run"} ${name}`;
}
