import { helpOverview, verbHelp, type HelpTable } from "./commands/shared/verb/help-page.ts";
import type { Output } from "./commands/shared/output.ts";
import { otherWordAdvice, otherWordVerb, synonymOf } from "./commands/shared/arguments/other-words.ts";
import { helpTable, topicTable, verbProgram } from "./commands/shared/verb/programs.ts";
import { exitWith } from "./commands/shared/verb/run-verb.ts";
import { PerdureError } from "./protocol/errors.ts";
import { nearest } from "./protocol/names.ts";
import { VERSION } from "./protocol/version.ts";

// Each verb is a program of its own, `dist/verb-NAME.cjs`, which bin/perdure.js starts directly. This file is for the rest:
// help, completion, the version, mistakes, and command lines that begin with --json.

const argv = process.argv.slice(2);
const typed = argv.slice(0, ends(argv)).find((word) => word !== "--json");
const program = verbProgram(typed ?? "") ?? verbProgram(otherWordVerb(typed));
if (program === null) void exitWith(argv, answer);
else require(program);

/** The words of perdure itself end where the command of `run` begins. */
function ends(words: readonly string[]): number | undefined {
  const dashes = words.indexOf("--");
  return dashes < 0 ? undefined : dashes;
}

async function answer(words: string[], _rest: string[] | null, out: Output): Promise<number> {
  const [first = "", ...others] = words;
  if (first === "--version" || first === "-V" || first === "version") {
    out.result({ version: VERSION }, () => VERSION);
  } else if (first === "__complete") {
    const { complete } = await import("./commands/admin/complete.ts");
    const candidates = await complete(others, helpTable(), topicTable());
    out.result({ candidates }, () => candidates.join("\n"));
  } else if (first === "help" || first === "--help" || first === "-h") {
    help(others, out);
  } else {
    throw unknownVerb(first);
  }
  return 0;
}

function help([verb, unexpected]: string[], out: Output): void {
  if (unexpected !== undefined) {
    throw new PerdureError("usage", `help: unexpected argument ${JSON.stringify(unexpected)}.`, {
      hint: "perdure help [VERB | TOPIC]",
    });
  }
  const table = helpTable();
  const topics = topicTable();
  if (verb === undefined) return out.result(...helpOverview(table, topics));
  const found = verbsOf(table).find((each) => each.verb === synonymOf(verb));
  if (found) return out.result(...verbHelp(found.verb, found));
  const topic = topics.find((each) => each.topic === verb);
  if (topic) return out.result(topic, () => topic.text);
  const advice = otherWordAdvice(verb);
  if (advice !== null) throw new PerdureError("usage", `There is no verb ${JSON.stringify(verb)}.`, { hint: advice });
  const near = nearest(verb, [...verbsOf(table).map((each) => each.verb), ...topics.map((each) => each.topic)]);
  throw new PerdureError("usage", `There is no verb or topic ${JSON.stringify(verb)}.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure help",
  });
}

function unknownVerb(verb: string): PerdureError {
  const advice = otherWordAdvice(verb);
  if (advice !== null) return new PerdureError("usage", `There is no verb ${JSON.stringify(verb)}.`, { hint: advice });
  const isOption = verb.startsWith("-");
  const known = isOption ? ["--json", "--help", "--version"] : verbsOf(helpTable()).map((each) => each.verb);
  const near = /^-[vV]$/.test(verb) ? ["--version"] : nearest(verb, known);
  const problem = isOption ? `There is no option ${verb}` : `There is no verb ${JSON.stringify(verb)}`;
  return new PerdureError("usage", `${problem}.`, {
    hint: near.length > 0 ? `did you mean: perdure ${near.join(", perdure ")}?` : "perdure help",
  });
}

function verbsOf({ groups }: HelpTable): HelpTable["groups"][number]["verbs"] {
  return groups.flatMap(({ verbs }) => verbs);
}
