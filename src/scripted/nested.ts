import { once } from "node:events";
import type { Program } from "./orders.ts";
import { Refusal } from "./persona.ts";

/**
 * Another agent of the same kind, headless, with this one's environment. A shell stays between the two, as in every
 * agent's shell tool: that is how a nested agent differs from a worker process of the agent itself.
 */
export async function runNested({ name, layout }: Program, prompt: string): Promise<string> {
  const { spawn } = process.getBuiltinModule("node:child_process"); // 5 ms of every start otherwise
  const command = [process.execPath, process.argv[1] ?? "", "--layout", name, ...layout.headless(prompt)];
  // The script is the outer one's: the inner one would run it too, and so on.
  const { PERDURE_SCRIPT: _, ...env } = process.env;
  const child = spawn("/bin/sh", ["-c", '"$@"; exit $?', "sh", ...command], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Refusal(`the nested agent ended with ${code}`);
  return answer.trimEnd();
}
