import { resolve } from "node:path";
import { LONG_WAIT_MS } from "../../limits/index.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { printable } from "../shared/output.ts";

export const backup: Command = {
  summary: "copy the whole store while everything keeps running",
  usage: "FILE",
  details: "Never overwrites a file. To restore it: perdure daemon stop && perdure daemon start --restore FILE.",
  examples: ["perdure backup ~/perdure-friday.db"],
  completes: ["file"],
  words: [1, 1],

  async run({ words, out }) {
    const result = await callDaemon("backup", { file: resolve(words[0] ?? "") }, LONG_WAIT_MS);
    out.result(result, () => printable(`${result.file}: ${result.bytes} bytes`));
    out.note(
      printable(`To restore it: perdure daemon stop && perdure daemon start --restore ${shellWords([result.file])}`),
    );
  },
};
