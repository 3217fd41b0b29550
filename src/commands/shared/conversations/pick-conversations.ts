import type { FoundProject } from "../../../project/find.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import { checkName, nameKey } from "../../../protocol/names.ts";
import type { FoundRecord } from "../../../protocol/records/conversation.ts";
import { askForLine } from "../terminal/ask-line.ts";
import { listFromDaemon } from "../call.ts";
import { declaredWorkersHere, projectOfRun, projectRefHere } from "../here.ts";
import { printable, type Output } from "../output.ts";
import { pickSeveral } from "../terminal/picker.ts";
import { whereProcess } from "../terminal/where-process.ts";
import { age } from "../table/table.ts";

/** A conversation with the name that its worker is to have. */
export type NamedConversation = FoundRecord & { name: string };

/** Has a person pick conversations and name them; none where they leave without. One that is open cannot be picked, unless it is waited for. */
export async function pickConversations(
  found: FoundProject,
  conversations: readonly FoundRecord[],
  live: boolean,
  out: Output,
): Promise<NamedConversation[]> {
  const title = "Conversations to adopt: each becomes a worker";
  const rows = conversations.map(conversationRow);
  const refusals = new Map(live ? [] : conversations.flatMap(refusalOf));
  const marked = (await pickSeveral({ title, rows, refusals }, out)) ?? [];
  return nameConversations(
    found,
    marked.flatMap((at) => conversations[at] ?? []),
  );
}

/** Says why a conversation cannot be picked: two processes in one would each write their own side of it. */
function refusalOf({ openIn }: FoundRecord, at: number): [number, string][] {
  return openIn === null
    ? []
    : [[at, `open in ${whereProcess(openIn)}: quit it there first, or: perdure adopt --live`]];
}

/** Shows a conversation in a list to pick from. */
export function conversationRow({ vendor, at, openIn, words }: FoundRecord): string[] {
  return [vendor, `${age(at)} ago`, openIn === null ? "" : `open in ${whereProcess(openIn)}`, words ?? ""];
}

/** Asks for the name of each conversation, which is none of `others`; Enter takes the one that is offered. */
export async function nameConversations(
  found: FoundProject,
  conversations: readonly FoundRecord[],
  others: ReadonlySet<string> = new Set(),
): Promise<NamedConversation[]> {
  const params = { here: projectRefHere(found), project: projectOfRun(), all: false };
  const { items } = await listFromDaemon("ls", params);
  const taken = new Set([...others, ...[...items, ...declaredWorkersHere(found)].map(({ name }) => nameKey(name))]);
  const named: NamedConversation[] = [];
  for (const conversation of conversations) {
    const name = await askForName(shownWords(conversation), untakenName(conversation.vendor, taken), taken);
    taken.add(nameKey(name));
    named.push({ ...conversation, name });
  }
  return named;
}

/** Asks for the name of a new worker until one is given that is free; Enter takes the one that is offered. */
export async function askForName(what: string, offered: string, taken: ReadonlySet<string>): Promise<string> {
  for (let problem = ""; ;) {
    const question = `${problem}Name for ${what} [${offered}]: `;
    const name = (await askForLine(printable(question))) || offered;
    const why = taken.has(nameKey(name)) ? `${name} is taken.` : problemOf(name);
    if (why === null) return name;
    problem = `${why}\n`;
  }
}

function shownWords({ vendor, words }: FoundRecord): string {
  return words === null ? vendor : `${vendor}, ${JSON.stringify(words)}`;
}

/** Returns the name, with the least number behind it that makes it a free one. */
export function untakenName(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(nameKey(name))) return name;
  }
}

function problemOf(name: string): string | null {
  try {
    checkName(name);
    return null;
  } catch (error) {
    if (isPerdureError(error)) return error.message;
    throw error;
  }
}
