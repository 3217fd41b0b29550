import type { FoundProject } from "../../project/find.ts";
import { adoptFound, conversationsFor, isInside } from "../shared/conversations/adoption.ts";
import type { Output } from "../shared/output.ts";
import { nameKey } from "../../protocol/names.ts";
import type { FoundRecord } from "../../protocol/records/conversation.ts";
import {
  askForName,
  conversationRow,
  untakenName,
  nameConversations,
  type NamedConversation,
} from "../shared/conversations/pick-conversations.ts";
import { pickSeveral } from "../shared/terminal/picker.ts";
import { NEW_NAMES, type TemplateWorker as KnownWorker } from "./init-template.ts";

interface Chosen {
  /** The vendors of the new workers. */
  vendors: string[];
  /** The names of the new workers, as many as there are offered ones. */
  names: (string | null)[];
  known: KnownWorker[];
  adopted: NamedConversation[];
}

/**
 * Has a person choose the agents of a new fleet, the workers that go on in it, and the conversations that become workers; null where
 * they leave without.
 */
export async function chooseWorkers(
  found: FoundProject,
  installed: readonly string[],
  workers: readonly KnownWorker[],
  out: Output,
): Promise<Chosen | null> {
  const conversations = (await conversationsFor(found, null)).filter(
    ({ worker, openIn, cwd }) => worker === null && openIn === null && isInside(found, cwd),
  );
  const isOneChoice = conversations.length + workers.length === 0 && installed.length < 2;
  const picked = isOneChoice ? installed.map((_, at) => at) : await pickAmong(installed, workers, conversations, out);
  if (picked === null) return null;
  const vendors = picked.flatMap((at) => installed[at] ?? []);
  const known = picked.flatMap((at) => workers[at - installed.length] ?? []);
  const chosen = picked.flatMap((at) => conversations[at - installed.length - workers.length] ?? []);
  const taken = new Set(workers.map(({ name }) => nameKey(name)));
  const names = vendors.length === 0 && known.length + chosen.length > 0 ? [] : await newNames(vendors, taken);
  for (const name of names) taken.add(nameKey(name));
  return { vendors, names, known, adopted: await nameConversations(found, chosen, taken) };
}

async function pickAmong(
  installed: readonly string[],
  workers: readonly KnownWorker[],
  conversations: readonly FoundRecord[],
  out: Output,
): Promise<number[] | null> {
  const rows = [
    ...installed.map((vendor) => [vendor, "agent", "", "on your PATH, for new workers"]),
    ...workers.map(({ name, entry }) => [entry.vendor ?? "program", "worker", name, "goes on under its name"]),
    ...conversations.map(conversationRow),
  ];
  const title = "What the fleet of this project is to have: agents for new workers, and what goes on in it";
  const marked = Array.from({ length: installed.length + workers.length }, (_, at) => at);
  return pickSeveral({ title, rows, marked }, out);
}

/** Asks for the names of the new workers; Enter takes the one that is offered. */
async function newNames(vendors: readonly string[], taken: ReadonlySet<string>): Promise<string[]> {
  const [first = "scripted", second = first] = vendors;
  const names: string[] = [];
  for (const [at, offered] of NEW_NAMES.entries()) {
    const used = new Set([...taken, ...names.map(nameKey)]);
    names.push(await askForName(`a new ${at === 0 ? first : second} worker`, untakenName(offered, used), used));
  }
  return names;
}

/** Binds a worker of the new fleet to the conversation that was chosen for it. */
export async function adoptChosen(
  found: FoundProject,
  { name, vendor, id, cwd }: NamedConversation,
  out: Output,
): Promise<void> {
  await adoptFound(found, { name, vendor, session: id, cwd, live: false }, out);
}
