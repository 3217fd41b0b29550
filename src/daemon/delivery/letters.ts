import { sealEnvelope, type Envelope, type Letter } from "../../core/envelope.ts";
import { PIECE_BYTES_MAX } from "../../limits/index.ts";
import { formatAddress } from "../../protocol/names.ts";
import { OPERATOR } from "../../protocol/records/mail.ts";
import type { Message } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import type { DeliveryFacet } from "../../vendors/delivery.ts";
import { iso } from "../../util/iso.ts";
import type { BaseServices } from "../base-services.ts";
import { assertIntact } from "../mail/integrity.ts";
import { isNestedName } from "../mail/sender.ts";

interface LetterOptions {
  mark: string;
  isPrivileged: boolean;
  guardMentions: boolean;
  /** The ids of messages that were announced to the same run before. */
  announced: ReadonlySet<string>;
}

/** Puts messages to a worker into one text. */
export function writeLetters(
  services: Pick<BaseServices, "db">,
  worker: Worker,
  messages: readonly Message[],
  { announced, ...options }: LetterOptions,
): Envelope {
  const project = projectById(services.db, worker.projectId);
  const to = project === null ? worker.name : formatAddress(project.slug, worker.name);
  const letters = messages.map((message) => {
    return { ...letterOf(services, worker, message), wasAnnounced: announced.has(message.id) };
  });
  return sealEnvelope(letters, { to, bytesMax: PIECE_BYTES_MAX, ...options });
}

/** The text of messages in the form of each hook that may take it. */
export interface Forms {
  ids: string[];
  /** The ids among them that a hook with more authority than a user's only announces, or has announced before. */
  onlyAnnounced: string[];
  /** The output of each hook, by the hook's word; a hook that has nothing to tell is not there. */
  forms: Record<string, string>;
}

/** Puts messages to a worker into what each of these hooks prints. */
export function writeForms(
  services: Pick<BaseServices, "db">,
  worker: Worker,
  messages: readonly Message[],
  how: Pick<LetterOptions, "mark" | "announced"> & { hooks: DeliveryFacet["hooks"]; words: readonly string[] },
): Forms {
  const { hooks, words, mark, announced } = how;
  const write = (isPrivileged: boolean): Envelope =>
    writeLetters(services, worker, messages, { mark, announced, isPrivileged, guardMentions: false });
  const [plain, privileged] = [write(false), write(true)];
  const forms: Record<string, string> = {};
  for (const word of words) {
    const hook = hooks[word];
    const text = hook?.isPrivileged ? privileged.text : plain.text;
    if (hook && text !== "") forms[word] = hook.print(text);
  }
  return { ids: plain.ids, onlyAnnounced: plain.ids.filter((id) => !privileged.ids.includes(id)), forms };
}

function letterOf(services: Pick<BaseServices, "db">, worker: Worker, message: Message): Omit<Letter, "wasAnnounced"> {
  assertIntact(message);
  const sender = message.fromWorker === null ? null : workerById(services.db, message.fromWorker);
  return {
    id: message.id,
    from: message.fromName,
    vendor: sender?.vendor ?? null,
    isOperator: message.fromWorker === null && message.fromName === OPERATOR,
    isStranger: isNestedName(message.fromName) || (sender !== null && sender.projectId !== worker.projectId),
    sentAt: iso(message.createdMs),
    replyTo: message.replyTo,
    expectsReply: message.expectsReply,
    body: message.body,
    attachments: message.attachments,
    again: message.attempt > 0,
  };
}
