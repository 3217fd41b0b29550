import { sealEnvelope } from "../../core/envelope.ts";
import { formatAddress } from "../../protocol/names.ts";
import { messageById } from "../../store/messages.ts";
import type { Project } from "../../store/projects.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { lettersOf } from "../delivery/letters.ts";
import { newMark } from "../delivery/pieces.ts";
import type { TurnServices } from "./services.ts";

/**
 * Writes what a turn is told: the first prompt of a new conversation, and the messages, in one text that begins with words of ours, so
 * that no program takes a body for a command of its own.
 */
export function turnPrompt(
  services: Pick<TurnServices, "db">,
  { project, worker }: { project: Project; worker: Worker },
  told: { ask: string | null; messages: readonly string[]; firstPrompt: string | null },
): string {
  const messages = told.messages.map((id) => messageById(services.db, id)).filter((each) => each !== null);
  // This very offer has been counted already.
  const before = messages.map((message) => ({ ...message, attempt: message.attempt - 1 }));
  const letters = lettersOf(services, worker, before, new Set());
  const { text } = sealEnvelope(
    letters,
    {
      to: formatAddress(project.slug, worker.name),
      mark: newMark(),
      isPrivileged: false,
      guardMentions: adapterOf(worker.vendor ?? "")?.delivery?.readsMentions === true,
      bytesMax: Infinity,
      cutsLonger: false,
      answered: told.ask,
    },
    letters.length,
  );
  return told.firstPrompt === null ? `${text}\n` : `${told.firstPrompt.trimEnd()}\n\n${text}\n`;
}
