/** The numbers of EDQUOT of Linux and macOS, as Node gives them. */
const QUOTA_USED_UP: ReadonlySet<unknown> = new Set([-122, -69]);

/** Returns the name of an error of the system, null for any other error. Node has none for a used-up quota, and says UNKNOWN. */
export function errnoName(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const isQuota = error.code === "UNKNOWN" && "errno" in error && QUOTA_USED_UP.has(error.errno);
  return isQuota ? "EDQUOT" : String(error.code);
}
