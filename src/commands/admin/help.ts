import { PerdureError } from "../../protocol/errors.ts";
import { nearest } from "../../protocol/names.ts";
import { own } from "../../util/own.ts";
import type { Command, VerbTable } from "../shared/command.ts";

/** The value for `--json` and the text for people. */
export async function helpPage(verbs: VerbTable, verb: string | undefined): Promise<[object, () => string]> {
  if (verb === undefined) return verbList(verbs);
  const load = own(verbs, verb);
  if (!load) {
    const near = nearest(verb, Object.keys(verbs).filter(Boolean));
    throw new PerdureError("usage", `There is no verb ${JSON.stringify(verb)}.`, {
      hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure help",
    });
  }
  const command = await load();
  return [{ verb, ...jsonForm(command) }, () => page(verb, command)];
}

async function verbList(verbs: VerbTable): Promise<[object, () => string]> {
  const names = Object.keys(verbs).filter(Boolean);
  const commands = await Promise.all(names.map(async (name) => ({ name, command: await verbs[name]!() })));
  const width = Math.max(...names.map((name) => name.length));
  const lines = commands.map(({ name, command }) => `  ${name.padEnd(width)}  ${command.summary}`);
  const text = [
    "perdure: a worker's name outlives its process",
    "",
    "  perdure                    where you are, and what needs you",
    "  perdure run NAME -- CMD    start a program under a name",
    "  perdure VERB --help        one verb, with examples",
    "",
    ...lines,
    "",
    "Every verb takes --json. NO_COLOR is respected. State: $PERDURE_HOME, else ~/.local/state/perdure.",
  ].join("\n");
  return [{ verbs: commands.map(({ name, command }) => ({ verb: name, ...jsonForm(command) })) }, () => text];
}

function jsonForm({ summary, usage, examples }: Command): object {
  return { summary, usage, examples };
}

function page(verb: string, command: Command): string {
  return [
    command.summary,
    "",
    `  perdure ${verb} ${command.usage}`.trimEnd(),
    ...(command.details ? ["", command.details] : []),
    "",
    "Examples:",
    ...command.examples.map((example) => `  ${example}`),
  ].join("\n");
}
