/** Returns the words for what the value of a key that names a folder of the project must be. */
export function folderSuchAs(example: string): string {
  return `a folder inside the project, such as ${JSON.stringify(example)}`;
}

/** Tells whether a text names a folder below the project's root. Links are looked at by whoever uses the folder. */
export function isFolderBelow(value: unknown): boolean {
  if (typeof value !== "string" || value.trim() === "" || value.startsWith("/") || value.includes("\0")) return false;
  const parts = value.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length > 0 && !parts.includes("..");
}
