export function whyHeld(_vendor: string | null, _text: string): { kind: "login" | "limit"; line: string } | null {
  return null;
}
