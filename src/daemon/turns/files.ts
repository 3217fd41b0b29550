import { join } from "node:path";

/** The files of a turn in its run's folder: what the program reads as its prompt, and what it prints. */
export interface TurnFiles {
  prompt: string;
  stdout: string;
  stderr: string;
}

export function turnFiles(runDir: string): TurnFiles {
  const [prompt, stdout, stderr] = ["turn.prompt", "turn.stdout", "turn.stderr"].map((name) => join(runDir, name));
  return { prompt: prompt ?? "", stdout: stdout ?? "", stderr: stderr ?? "" };
}
