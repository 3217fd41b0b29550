import { connectToDaemon } from "../../client/connect.ts";
import { EVENT_ROWS_DEFAULT, LIST_ROWS_MAX } from "../../limits/index.ts";
import type { EventRecord } from "../../protocol/records/admin.ts";
import type { Command } from "../shared/command.ts";
import { projectRefHere, targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { printable, type Paint } from "../shared/output.ts";

export const events: Command = {
  summary: "show what happened, oldest first",
  usage: "[NAME] [options]",
  details: "With --json, one event per line. Each event has a number, SEQ.",
  examples: ["perdure events", "perdure events coder -f", "perdure events --all --after 120 --json"],
  options: {
    follow: { short: "f", about: "go on printing events as they happen, until Ctrl-C" },
    all: { short: "a", about: "events of every project" },
    after: { value: "SEQ", about: "only events after this number: where a reader left off" },
    limit: { value: "N", short: "n", about: "the last N events at most" },
  },
  completes: ["worker"],
  words: [0, 1],

  async run({ words, values, out }) {
    const here = projectRefHere();
    const params = {
      here,
      all: values.all === true,
      target: words[0] === undefined ? null : targetOf(words[0], here),
      after: wholeNumber("--after", values.after, { least: 0, most: Number.MAX_SAFE_INTEGER }),
      limit: wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX }) ?? EVENT_ROWS_DEFAULT,
      follow: values.follow === true,
    };
    const client = await connectToDaemon();
    let shown = 0;
    try {
      await client.stream("events", params, (event) => {
        shown++;
        out.item(event, () => line(event, out.paint));
      });
    } finally {
      client.close();
    }
    if (shown === 0) out.note("Nothing has happened here yet.");
  },
};

function line(event: EventRecord, paint: Paint): string {
  const who = event.worker ? `${event.project}/${event.worker}` : (event.project ?? "");
  const fields = Object.entries(event.data).filter(([, value]) => value !== null);
  const data = fields.map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const parts = [
    paint.dim(`${String(event.seq).padStart(6)}  ${event.at}`),
    event.type.padEnd(18),
    paint.bold(printable(who)),
    event.run ?? "",
  ];
  return [...parts, printable(data.join(" "))].filter(Boolean).join("  ");
}
