/** Text of mail that the agent has got, and what it does about it. */
const LETTER = /^Message (\S+) from ([^\s,]+)[^\n]*\n\[(m-[0-9a-f]+)\n([^]*?)\n\3\]$/gm;

/**
 * Makes the agent answer all its mail, and write to whom a message tells it to: `[[write NAME]]`. Only for tests of what becomes of
 * agents that do.
 */
export function answersMail(perdure: string): (heard: readonly string[]) => Promise<void> {
  return async (heard) => {
    for (const [, id = "", from = "", , body = ""] of heard.join("\n").matchAll(LETTER)) {
      const [, to] = /\[\[write (\S+)\]\]/.exec(body) ?? [];
      if (to !== undefined) await run(perdure, ["send", to, `written for ${id}`]);
      else if (from !== "operator") await run(perdure, ["reply", id, `an answer to ${id}`]);
    }
  };
}

/** Runs perdure as the agent's own shell would; a refusal is the agent's to bear. */
async function run(perdure: string, args: string[]): Promise<void> {
  const { spawn } = process.getBuiltinModule("node:child_process"); // 5 ms of every start otherwise
  const child = spawn(perdure, args, { stdio: "ignore" });
  await new Promise<void>((resolve) => child.on("close", () => resolve()).on("error", () => resolve()));
}
