import { readUserConfig } from "../../project/config/read.ts";
import { exitCodeOf, PerdureError } from "../../protocol/errors.ts";
import { userConfigFile } from "../../state/paths.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const notify: Command = {
  summary: "try the ways in which you are told that a worker needs you",
  usage: "test",
  details: [
    "Sends a test by everything that [notify] of your own config.toml names, and rings the bell of attached terminals.",
    "Exit 5 if one of them fails. What is told, when and how, is in docs/notices.md.",
  ].join("\n"),
  examples: ["perdure notify test"],
  subcommands: { test: "send a test by every channel" },
  words: [1, 1],

  async run({ words, out }) {
    const [word = ""] = words;
    if (word !== "test")
      throw new PerdureError("usage", `notify has no ${JSON.stringify(word)}.`, { hint: "perdure notify test" });
    const file = userConfigFile(process.env);
    // A mistake in the file is shown here, with its line; the daemon would use the defaults.
    const { notify: settings } = readUserConfig(file);
    const { outcomes } = await callDaemon("testNotice", { here: projectRefHere(), project: projectOfRun() });
    const failed = outcomes.filter(({ ok }) => !ok);
    out.result({ ok: failed.length === 0, outcomes }, () =>
      outcomes
        .map(({ channel, ok, detail, reached }) => {
          const sent = reached === 0 ? out.paint.yellow("nobody") : out.paint.green("ok    ");
          const mark = ok ? sent : out.paint.red("failed");
          return `${mark}  ${channel.padEnd(8)} ${printable(detail)}`;
        })
        .join("\n"),
    );
    if (settings?.command === undefined && settings?.ntfy === undefined)
      out.note(`Nothing is configured. Put this into ${file}, for notices on your desktop:\n\n[notify]\n${EXAMPLE}`);
    return failed.length === 0 ? 0 : exitCodeOf("refused");
  },
};

/** A program gets what there is to say as JSON on its standard input, which notify-send does not read. */
const EXAMPLE = `command = ["sh", "-c", '''notify-send perdure "$(jq -r '.address + " " + .event + " " + (.reason // "")')"''']`;
