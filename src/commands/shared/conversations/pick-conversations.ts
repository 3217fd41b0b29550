import type { FoundProject } from "../../../project/find.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import { checkName, nameKey } from "../../../protocol/names.ts";
import type { FoundRecord } from "../../../protocol/records/conversation.ts";
import { askForLine } from "../terminal/ask-line.ts";
import { listFromDaemon } from "../call.ts";
import { declaredWorkersHere, projectOfRun, projectRefHere } from "../here.ts";
import { printable, type Output } from "../output.ts";
import { pickSeveral } from "../terminal/picker.ts";
import { age } from "../table/table.ts";

/** A conversation with the name that its worker is to have. */
export type NamedConversation = FoundRecord & { name: string };

/** Has a person pick conversations and name them; none where they leave without. One that is open is left out, unless it is waited for. */
export async function pickConversations(
  found: FoundProject,
  conversations: readonly FoundRecord[],
  live: boolean,
  out: Output,
): Promise<NamedConversation[]> {
  const title = "Conversations to adopt: each becomes a worker";
  const marked = (await pickSeveral({ title, rows: conversations.map(conversationRow) }, out)) ?? [];
  const picked = marked.flatMap((at) => conversations[at] ?? []);
  const open = live ? [] : picked.filter(({ openIn }) => openIn !== null);
  for (const each of open) {
    const rest = `quit it there and adopt it then, or let perdure wait for that: perdure adopt --live`;
    out.note(printable(`Left out: ${shownWords(each)} is open in pid ${each.openIn}; ${rest}`));
  }
  return nameConversations(
    found,
    picked.filter((each) => !open.includes(each)),
  );
}

/** Shows a conversation in a list to pick from. */
export function conversationRow({ vendor, at, openIn, words }: FoundRecord): string[] {
  return [vendor, `${age(at)} ago`, openIn === null ? "" : `open in pid ${openIn}`, words ?? ""];
}

/** Asks for the name of each conversation; Enter takes the one that is offered. */
export async function nameConversations(
  found: FoundProject,
  conversations: readonly FoundRecord[],
): Promise<NamedConversation[]> {
  const params = { here: projectRefHere(found), project: projectOfRun(), all: false };
  const { items } = await listFromDaemon("ls", params);
  const taken = new Set([...items, ...declaredWorkersHere(found)].map(({ name }) => nameKey(name)));
  const named: NamedConversation[] = [];
  for (const conversation of conversations) {
    const name = await askForName(conversation, taken);
    taken.add(nameKey(name));
    named.push({ ...conversation, name });
  }
  return named;
}

async function askForName(conversation: FoundRecord, taken: ReadonlySet<string>): Promise<string> {
  const offered = freeName(conversation.vendor, taken);
  for (let problem = ""; ;) {
    const question = `${problem}Name for ${shownWords(conversation)} [${offered}]: `;
    const name = (await askForLine(printable(question))) || offered;
    const why = taken.has(nameKey(name)) ? `${name} is taken.` : problemOf(name);
    if (why === null) return name;
    problem = `${why}\n`;
  }
}

function shownWords({ vendor, words }: FoundRecord): string {
  return words === null ? vendor : `${vendor}, ${JSON.stringify(words)}`;
}

function freeName(vendor: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? vendor : `${vendor}-${number}`;
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
