import { fittingCount, sealEnvelope, type Envelope, type Letter } from "../../core/envelope.ts";
import { PIECE_BYTES_MAX } from "../../limits/index.ts";
import { formatAddress } from "../../protocol/names.ts";
import { isFileSender, OPERATOR } from "../../protocol/records/mail.ts";
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
  const letters = lettersOf(services, worker, messages, announced);
  return sealEnvelope(letters, {
    to: addressOf(services, worker),
    bytesMax: PIECE_BYTES_MAX,
    cutsLonger: false,
    ...options,
  });
}

/** The text of messages in the form of each hook that may take it. */
export interface Forms {
  ids: string[];
  /** The ids among them that a hook only announces, or has announced before, by the hook's word. */
  onlyAnnounced: Record<string, string[]>;
  /** The output of each hook, by the hook's word; a hook that has nothing to tell is not there. */
  forms: Record<string, string>;
}

/** Puts messages to a worker into what each of these hooks prints: in all of them the same messages. */
export function writeForms(
  services: Pick<BaseServices, "db">,
  worker: Worker,
  messages: readonly Message[],
  how: Pick<LetterOptions, "mark" | "announced"> & { hooks: DeliveryFacet["hooks"]; words: readonly string[] },
): Forms {
  const letters = lettersOf(services, worker, messages, how.announced);
  const to = addressOf(services, worker);
  const hooks = how.words.flatMap((word) => {
    const hook = how.hooks[word];
    if (hook === undefined) return [];
    const { isPrivileged, bytesMax } = hook;
    const limits = { bytesMax: bytesMax ?? PIECE_BYTES_MAX, cutsLonger: bytesMax !== undefined };
    return [{ word, hook, options: { to, mark: how.mark, isPrivileged, guardMentions: false, ...limits } }];
  });
  const count = Math.min(...hooks.map(({ options }) => fittingCount(letters, options)));
  const ids = letters.slice(0, count).map(({ id }) => id);
  const written: Forms = { ids, onlyAnnounced: {}, forms: {} };
  for (const { word, hook, options } of hooks) {
    const sealed = sealEnvelope(letters, options, count);
    written.onlyAnnounced[word] = ids.filter((id) => !sealed.ids.includes(id));
    // No turn is prolonged for an announcement: idle, the agent is woken, and a wake may tell it whole.
    const isWorth = sealed.ids.length > 0 || (sealed.text !== "" && hook.prolongs !== true);
    if (isWorth) written.forms[word] = hook.print(sealed.text);
  }
  return written;
}

function addressOf(services: Pick<BaseServices, "db">, worker: Worker): string {
  const project = projectById(services.db, worker.projectId);
  return project === null ? worker.name : formatAddress(project.slug, worker.name);
}

/** Writes messages to a worker as letters. */
export function lettersOf(
  services: Pick<BaseServices, "db">,
  worker: Worker,
  messages: readonly Message[],
  announced: ReadonlySet<string>,
): Letter[] {
  return messages.map((message) => ({
    ...letterOf(services, worker, message),
    wasAnnounced: announced.has(message.id),
  }));
}

function letterOf(services: Pick<BaseServices, "db">, worker: Worker, message: Message): Omit<Letter, "wasAnnounced"> {
  assertIntact(message);
  const isFile = isFileSender(message.fromName);
  const sender = message.fromWorker === null ? null : workerById(services.db, message.fromWorker);
  return {
    id: message.id,
    from: message.fromName,
    vendor: sender?.vendor ?? null,
    isOperator: message.fromWorker === null && message.fromName === OPERATOR,
    isFile,
    isStranger: isFile || isNestedName(message.fromName) || (sender !== null && sender.projectId !== worker.projectId),
    sentAt: iso(message.createdMs),
    replyTo: message.replyTo,
    expectsReply: message.expectsReply,
    body: message.body,
    attachments: message.attachments,
    again: message.attempt > 0,
  };
}
