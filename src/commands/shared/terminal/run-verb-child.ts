import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PEEK_LINES } from "../../../limits/index.ts";
import { DIST } from "../../../state/paths.ts";

interface VerbEnd {
  code: number;
  /** The last line that it printed, in one line. */
  said: string;
}

/**
 * Runs one of our verbs in this terminal, to its end. `errors` are shown, or kept for the screen that comes back, which would hide
 * them.
 */
export async function runHere(
  words: readonly string[],
  { errors, cwd }: { errors: "shown" | "kept"; cwd?: string | undefined },
): Promise<VerbEnd> {
  const stderr = errors === "kept" ? "pipe" : "inherit";
  return ended(spawn(PROGRAM, words, { stdio: ["inherit", "inherit", stderr], ...(cwd !== undefined && { cwd }) }));
}

/** Runs one of our verbs without a terminal. */
export async function runQuietly(words: readonly string[], input = ""): Promise<VerbEnd> {
  const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "pipe"] });
  // A verb that refuses before it reads its input closes the pipe.
  child.stdin.on("error", () => undefined).end(input);
  return ended(child);
}

const PROGRAM = join(DIST, "..", "bin", "perdure.js");

async function ended(child: ChildProcess): Promise<VerbEnd> {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => void (chunks.length < PEEK_LINES && chunks.push(text)));
  }
  // Whatever ends this process must not leave another one at the terminal.
  const onExit = (): void => void child.kill("SIGTERM");
  process.once("exit", onExit);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code: code ?? 1, said: sentence(chunks.join("")) };
  } finally {
    process.off("exit", onExit);
  }
}

/** Takes the message of an error with its hint, else the last line. */
function sentence(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const at = lines.findIndex((line) => line.startsWith("perdure:"));
  return at < 0 ? (lines.at(-1) ?? "") : lines.slice(at, at + 2).join(" ");
}
