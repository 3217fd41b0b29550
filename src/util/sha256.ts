/** In hexadecimal. The crypto module is loaded by the first call: most cold starts and an idle daemon need none. */
export function sha256(text: string): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", text, "hex");
}
