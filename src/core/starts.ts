/** The command that starts a worker: in its pane if it was brought up, else in the terminal it is typed into. */
export function startsBy(name: string, inPane: boolean): string {
  return `perdure ${inPane ? "up" : "run"} ${name}`;
}
