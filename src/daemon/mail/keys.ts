// What a change of mail is told under.

/** Something was put into a box; `to` is null for the operator. */
export function boxKey(projectId: number, to: number | null): string {
  return `box ${projectId} ${to ?? 0}`;
}

/** Something became of a message, or it was answered. */
export function askKey(id: string): string {
  return `ask ${id}`;
}
