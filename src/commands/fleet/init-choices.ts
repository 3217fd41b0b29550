import type { FoundProject } from "../../project/find.ts";
import { adoptFound, conversationsFor, isInside } from "../shared/conversations/adoption.ts";
import type { Output } from "../shared/output.ts";
import {
  conversationRow,
  nameConversations,
  type NamedConversation,
} from "../shared/conversations/pick-conversations.ts";
import { pickSeveral } from "../shared/terminal/picker.ts";

interface Chosen {
  /** The vendors of the new workers. */
  vendors: string[];
  adopted: NamedConversation[];
}

/** Has a person choose the agents of a new fleet, and the conversations that become workers; null where they leave without. */
export async function chooseWorkers(
  found: FoundProject,
  installed: readonly string[],
  out: Output,
): Promise<Chosen | null> {
  const conversations = (await conversationsFor(found, null)).filter(
    ({ worker, openIn, cwd }) => worker === null && openIn === null && isInside(found, cwd),
  );
  if (conversations.length === 0 && installed.length < 2) return { vendors: [...installed], adopted: [] };
  const rows = [
    ...installed.map((vendor) => [vendor, "agent", "", "on your PATH, for new workers"]),
    ...conversations.map(conversationRow),
  ];
  const title = "The fleet of this project: agents for new workers, and conversations to go on with";
  const marked = installed.map((_, at) => at);
  const picked = await pickSeveral({ title, rows, marked }, out);
  if (picked === null) return null;
  const chosen = picked.flatMap((at) => conversations[at - installed.length] ?? []);
  return {
    vendors: picked.flatMap((at) => installed[at] ?? []),
    adopted: await nameConversations(found, chosen),
  };
}

/** Binds a worker of the new fleet to the conversation that was chosen for it. */
export async function adoptChosen(
  found: FoundProject,
  { name, vendor, id, cwd }: NamedConversation,
  out: Output,
): Promise<void> {
  await adoptFound(found, { name, vendor, session: id, cwd, live: false }, out);
}
