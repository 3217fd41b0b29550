/** Formats a time of the wall clock as records show it. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
