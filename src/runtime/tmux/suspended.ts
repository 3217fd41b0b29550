export function looksSuspended(text: string): boolean {
  return /suspended/.test(text);
}
