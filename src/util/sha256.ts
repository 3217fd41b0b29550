/** Hashes a text, in hexadecimal. The first call loads the crypto module, which most cold starts do not need. */
export function sha256(text: string): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", text, "hex");
}
