/** Returns the value, which the caller knows to exist; throws, with what it is, if it does not. */
export function requirePresent<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what} is missing from the store`);
  return value;
}
