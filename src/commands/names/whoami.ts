import { identify } from "../../client/identity.ts";
import type { Identity } from "../../project/whoami.ts";
import type { Command } from "../shared/command.ts";
import { callerHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const whoamiCommand: Command = {
  summary: "show who the caller is, and which rule decided it",
  usage: "[--as NAME]",
  details: [
    "First match wins: --as, PERDURE_NAME (then PI_INTERCOM_SESSION_NAME, PI_INTERCOM_STABLE_ID), perdure.toml, the user's",
    "config.toml, the name of the vendor's conversation, a fallback alias without mail. An empty or blank variable counts as",
    "unset. Needs no daemon.",
    "",
    "`run`, `context` and `inbox` without a NAME mean the same worker. To act as it takes the token of its run: in a shell",
    "that is only pinned, mail knows the caller as the operator.",
  ].join("\n"),
  examples: ["perdure whoami", "perdure whoami --json", "perdure whoami --as reviewer"],
  options: { as: { value: "NAME", about: "answer for this name", completes: "worker" } },
  words: [0, 0],

  async run({ values, out }) {
    const identity = identify(callerHere(), typeof values.as === "string" ? values.as : null);
    out.result(identity, () => {
      const run = identity.run ? `  run ${identity.run}, generation ${identity.generation}\n` : "";
      const supervisor = identity.durable ? null : identity.supervisor;
      const above = supervisor === null ? "" : `  a nested agent of ${supervisor}\n`;
      const lost = identity.displaced ? "  taken over: the name is no longer this run's\n" : "";
      return printable(`${identity.address}\n${run}${lost}${above}  ${standing(identity)}`);
    });
  },
};

/** Says what the caller may not do under this name, if there is something. */
function standing({ durable, source, actor, supervisor }: Identity): string {
  const by = `by ${source}`;
  if (durable && supervisor !== null && actor !== "operator") {
    return `${by}, pinned only: your mail is sent as that of ${actor === "nested" ? "a nested agent of " : ""}${supervisor}`;
  }
  if (durable) return actor === "operator" ? `${by}, pinned only: your mail is sent as that of the operator` : by;
  if (source === "fallback" && actor === "nested") {
    return `${by}, not durable: below a vendor's background service, whose worker nobody can tell`;
  }
  // The alias is for programs that need some name; mail knows a caller outside of any worker as the operator.
  return source === "fallback"
    ? "you are the operator, and no worker: this alias is for programs that need a name; your mail is in perdure inbox"
    : `${by}, not durable: no mail, no lease`;
}
