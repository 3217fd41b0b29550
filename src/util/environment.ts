/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the value of a variable that says who somebody is; null where it is unset, empty or blank. */
export function variableOf(env: Environment, name: string): string | null {
  const value = env[name];
  return value === undefined || value.trim() === "" ? null : value;
}
