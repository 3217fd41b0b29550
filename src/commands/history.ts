import { HISTORY_ROWS_DEFAULT, LIST_ROWS_MAX } from "../limits.ts";
import { askList } from "./ask.ts";
import type { Command } from "./command.ts";
import { targetOf } from "./here.ts";
import { wholeNumber } from "./numbers.ts";
import { table, type Cell } from "./table.ts";

export const history: Command = {
  summary: "the runs of one worker, newest first",
  usage: "NAME [--limit N]",
  examples: ["perdure history coder", "perdure history coder --limit 5 --json"],
  options: { limit: { type: "string", short: "n" } },
  words: [1, 1],

  async run({ words, values, out }) {
    const limit = wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX }) ?? HISTORY_ROWS_DEFAULT;
    const { items: runs, result } = await askList("history", { target: targetOf(words[0] ?? ""), limit });
    out.result({ ...result, runs, sessions: [] }, () => {
      const rows = runs.map((run): (string | Cell)[] => [
        String(run.generation),
        run.id,
        run.startedAt,
        run.endedAt ?? "-",
        run.exit === null ? "-" : String(run.exit),
        { text: run.reason ?? "running", paint: run.reason === null ? out.paint.green : out.paint.dim },
        run.displacedBy ? `by ${run.displacedBy}` : "",
      ]);
      return `${result.address}\n${table(["GEN", "RUN", "STARTED", "ENDED", "EXIT", "REASON", ""], rows, out.paint.dim)}`;
    });
  },
};
