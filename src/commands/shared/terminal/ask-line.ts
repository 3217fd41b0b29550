import { createInterface } from "node:readline/promises";

/** Asks for a line with the editing that people know from shells; Ctrl-C and Ctrl-D are an empty one. */
export async function askForLine(question: string): Promise<string> {
  const editor = createInterface({ input: process.stdin, output: process.stdout });
  const given = new AbortController();
  editor.once("SIGINT", () => given.abort());
  editor.once("close", () => given.abort());
  try {
    return (await editor.question(question, { signal: given.signal })).trim();
  } catch (error) {
    if (given.signal.aborted) return "";
    throw error;
  } finally {
    editor.close();
  }
}
