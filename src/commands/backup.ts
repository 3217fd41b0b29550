import { resolve } from "node:path";
import { statePaths } from "../state/paths.ts";
import { ask } from "./ask.ts";
import type { Command } from "./command.ts";
import { shellWords } from "./table.ts";

export const backup: Command = {
  summary: "a whole copy of the store, while everything goes on",
  usage: "FILE",
  details:
    "Never overwrites. To restore: perdure daemon stop, copy the file over perdure.db in the state folder,\nremove perdure.db-wal and perdure.db-shm there, and go on.",
  examples: ["perdure backup ~/perdure-friday.db"],
  words: [1, 1],

  async run({ words, out }) {
    const result = await ask("backup", { file: resolve(words[0] ?? "") });
    const { database } = statePaths(process.env);
    out.result(result, () => `${result.file}: ${result.bytes} bytes`);
    out.note(
      `To restore it: perdure daemon stop && rm -f ${database}-wal ${database}-shm && cp ${shellWords([result.file, database])}`,
    );
  },
};
