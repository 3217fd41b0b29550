import { lstatSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DROP_NAME_CHARS_MAX, MESSAGE_BYTES_MAX } from "../../../limits/index.ts";
import { DROP_PLACES } from "../../../project/configured-folder.ts";
import { declaredWorkers } from "../../../project/fleet/names.ts";
import { findProjectIfThere } from "../../../project/find.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import { isName, nameKey } from "../../../protocol/names.ts";
import { irregularity, readForeignUtf8 } from "../../../state/bounded-read.ts";
import { highestHops } from "../../../store/wakes.ts";
import { sha256 } from "../../../util/sha256.ts";
import { recordEvent } from "../../events.ts";
import { admit } from "../admit.ts";
import { namesByKey, recipientOf, type DeclaredNames } from "../recipients.ts";
import { fileSender } from "../sender.ts";
import type { MailServices } from "../services.ts";
import { stateOf, type DroppedFile } from "./look.ts";

/** The end of a look at one file: it is mail now, it cannot be, or it is looked at again. */
export type Outcome = "taken" | "dead" | "later";

/**
 * Takes a file in as mail, and then moves it aside. Its name is the message's id: a daemon that was killed in between finds the file
 * again, and the message with it, so that there is one message however often the file is seen.
 */
export async function takeFile(services: MailServices, file: DroppedFile): Promise<Outcome> {
  const problem = whyNoMail(file);
  if (problem !== null) return bury(services, file, problem);
  const read = readForeignUtf8(file.path, MESSAGE_BYTES_MAX);
  const after = lstatSync(file.path, { bigint: true, throwIfNoEntry: false });
  if (read === null || after === undefined || stateOf(after) !== stateOf(file.stats)) return "later";
  if ("problem" in read) return bury(services, file, read.problem);
  if (read.text.trim() === "") return bury(services, file, "is empty");
  try {
    await admitFile(services, file, read.text);
  } catch (error) {
    if (!isPerdureError(error) || !HOPELESS.has(error.code)) throw error;
    return bury(services, file, `cannot be delivered: ${error.message}`);
  }
  const to = moveAside(file, DROP_PLACES.processed);
  tellLateWrites(services, file, to);
  return "taken";
}

/** Refusals that no later look changes: nobody is called that, or the name of the file was used for another message. */
const HOPELESS: ReadonlySet<string> = new Set(["not-found", "conflict"]);

function whyNoMail({ agent, stats }: DroppedFile): string | null {
  if (stats.isSymbolicLink()) return "is a symbolic link";
  const irregular = irregularity(stats);
  if (irregular !== null) return irregular;
  if (!isName(agent)) return `is for ${JSON.stringify(agent)}, which no worker can be called`;
  const own = process.geteuid?.();
  return own === undefined || Number(stats.uid) === own || stats.uid === 0n ? null : "belongs to another user";
}

async function admitFile(services: MailServices, { project, agent, name }: DroppedFile, body: string): Promise<void> {
  const declared = declaredIn(project.root);
  const here = { identity: project.identity, root: project.root, base: project.slug };
  await services.writer.write(() => {
    const sender = fileSender(project, shownName(name));
    const recipient = recipientOf(services, sender, { here, project: project.slug }, declared, agent, false);
    admit(services, sender, recipient, {
      id: `file-${sha256(JSON.stringify([project.uid, nameKey(agent), name])).slice(0, 24)}`,
      isFirst: false,
      body,
      expiresMs: null,
      supersedes: null,
      replyTo: null,
      expectsReply: false,
      waits: false,
      attachments: [],
      // Any agent of the project may have written it, so it counts as the last in the longest chain of them.
      hops: highestHops(services.db, project.id) + 1,
    });
  });
}

function declaredIn(root: string): DeclaredNames {
  const found = findProjectIfThere(root);
  return namesByKey(found === null ? [] : declaredWorkers(found).map(({ name }) => name));
}

/** Writes a file's name so that it is one word in any text: whoever has put the file there has chosen it. */
function shownName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, DROP_NAME_CHARS_MAX);
}

/** Moves a file that is no mail to where a person finds it, and says why. */
async function bury(services: MailServices, file: DroppedFile, problem: string): Promise<Outcome> {
  const to = moveAside(file, DROP_PLACES.deadLetter);
  services.log(`${file.path} ${problem}; it is in ${to}`);
  await services.writer.write(() => {
    recordEvent(
      services,
      "mail.undeliverable",
      { projectId: file.project.id },
      { file: to, agent: file.agent, problem },
    );
  });
  return "dead";
}

/** Moves a file, whatever it is, beside those of before: nothing is overwritten. */
function moveAside({ folder, name, path }: DroppedFile, place: string): string {
  const target = join(folder, place);
  mkdirSync(target, { recursive: true });
  for (let number = 1; ; number++) {
    const to = join(target, number === 1 ? name : `${number}-${name}`);
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) continue;
    renameSync(path, to);
    return to;
  }
}

/** A writer that had the file open writes on where it is now, and nobody would look there. */
function tellLateWrites(services: MailServices, { path, stats }: DroppedFile, to: string): void {
  const now = lstatSync(to, { bigint: true, throwIfNoEntry: false });
  if (now === undefined || (now.size === stats.size && now.mtimeNs === stats.mtimeNs)) return;
  services.log(`${path} was written to after it was taken as mail; what came later is in ${to} alone`);
}
