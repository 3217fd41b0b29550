import type { FoundProject } from "../../project/find.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { FoundRecord } from "../../protocol/records/conversation.ts";
import { missingIn } from "../../protocol/records/restored.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import { adoptFound, conversationsFor, isInside } from "../shared/conversations/adoption.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { findProjectHere, isDeclaredHere, targetOf, startCommandHere } from "../shared/here.ts";
import { hasKeys, printable, type Output } from "../shared/output.ts";
import { age, size, table, type Cell } from "../shared/table/table.ts";

export const adopt: Command = {
  summary: "give an existing conversation to a worker; alone, list them",
  usage: "[NAME] [options]",
  details: [
    "Alone it lists the conversations of every installed vendor that began in this project; at a terminal you pick from them,",
    "several at once, and give each a name. With NAME and --conversation it binds the worker to one of them,",
    "which `perdure run NAME`, or `perdure up`, then resumes: one that you began by",
    "hand, or what is left of the worker's own after a loss. The worker's earlier conversation stays in its history. The",
    "vendor's config dir is that of the environment.",
    "",
    "With --kept the worker goes back to perdure's copy of its own conversation; the vendor's present file is set aside",
    "beside it (.lost). Where another process wrote to the conversation beside the worker, it goes back to the worker's own",
    "side, and the file with both is set aside among perdure's copies.",
  ].join("\n"),
  examples: [
    "perdure adopt",
    "perdure adopt coder --conversation 0b6f3a52",
    "perdure adopt coder --kept",
    "perdure adopt coder --pi-session 7f3a9c",
  ],
  options: {
    conversation: { value: "ID", about: "the conversation; of a listed one a unique prefix or suffix is enough" },
    vendor: {
      value: "V",
      about: "its vendor, if it is not listed",
      completes: VENDOR_PROGRAMS.map(({ vendor }) => vendor),
    },
    cwd: { value: "DIR", about: "the folder it began in, if it is not listed", completes: "folder" },
    live: { about: "wait until the process that has the conversation open ends" },
    "pi-session": { value: "KEY", about: "the conversation in the Pi session file of KEY (perdure pi-session)" },
    kept: { about: "go back to perdure's copy of the worker's own conversation" },
    all: { short: "a", about: "alone: list conversations that began anywhere" },
  },
  aliases: { session: "conversation" },
  completes: ["worker"],
  words: [0, 1],

  async run(invocation) {
    const [name] = invocation.words;
    if (name === undefined) return list(withoutChoice(invocation));
    if (typeof invocation.values["pi-session"] === "string") {
      return (await import("./adopt-pi-session.ts")).adoptPiSession(name, invocation);
    }
    return invocation.values.kept === true ? restore(name, invocation) : bind(name, invocation);
  },
};

/** Refuses the options that choose a conversation where no worker is named to give it to. */
function withoutChoice(invocation: Invocation): Invocation {
  const chosen = ["conversation", "pi-session", "kept"].find((option) => invocation.values[option] !== undefined);
  if (chosen === undefined) return invocation;
  throw new PerdureError("usage", `adopt: --${chosen} needs the NAME of a worker.`, {
    hint: "perdure adopt NAME [options]",
  });
}

/** Lists what can be adopted; at a terminal a person picks from it, several at once. */
async function list({ values, out }: Invocation): Promise<void> {
  const found = findProjectHere();
  const everywhere = await conversationsFor(found, vendorOf(values));
  const here = values.all === true ? everywhere : everywhere.filter(({ cwd }) => isInside(found, cwd));
  const free = here.filter(({ worker }) => worker === null);
  if (hasKeys(out) && free.length > 0) return pickAndAdopt(found, free, values, out);
  out.result({ conversations: here }, () => tableOf(here, out));
  const elsewhere = everywhere.length - here.length;
  const where = values.all === true ? "was found" : "began in this project";
  if (here.length === 0) out.note(`No conversation of an installed vendor ${where}.`);
  if (elsewhere > 0) out.note(`${elsewhere} more began elsewhere: perdure adopt --all`);
  if (here.length > 0) out.note("→ perdure adopt NAME --conversation ID");
}

function tableOf(conversations: readonly FoundRecord[], { paint }: Output): string {
  const rows = conversations.map((each): (string | Cell)[] => [
    { text: each.id, paint: paint.bold },
    each.vendor,
    `${age(each.at)} ago`,
    each.cwd ?? "-",
    {
      text: each.worker ?? (each.openIn === null ? "free" : `open in pid ${each.openIn}`),
      paint: usePaint(each, paint),
    },
    { text: each.words ?? "", paint: paint.dim },
  ]);
  if (rows.length === 0) return "";
  return table(["CONVERSATION", "VENDOR", "LAST USED", "FOLDER", "USE", "LAST WORDS"], rows, paint.dim);
}

function usePaint({ worker, openIn }: FoundRecord, paint: Invocation["out"]["paint"]): (text: string) => string {
  if (worker !== null) return paint.dim;
  return openIn === null ? paint.green : paint.yellow;
}

/** Asks for the name of each conversation that is picked. One that is open is waited for last, with --live. */
async function pickAndAdopt(
  found: FoundProject,
  free: readonly FoundRecord[],
  values: Invocation["values"],
  out: Output,
): Promise<void> {
  const { pickConversations } = await import("../shared/conversations/pick-conversations.ts");
  const live = values.live === true;
  const picked = await pickConversations(found, free, live, out);
  if (picked.length === 0) return out.note("Nothing was adopted.");
  const ordered = picked.toSorted((a, b) => Number(a.openIn !== null) - Number(b.openIn !== null));
  for (const { name, id, vendor, cwd } of ordered) {
    const adopted = await adoptFound(found, { name, vendor, session: id, cwd, live }, out);
    out.note(`${adopted.address} is in ${adopted.session.vendor} conversation ${adopted.session.id}`);
  }
  for (const { name } of picked) await noteNext(found, name, out);
}

async function bind(name: string, { values, out }: Invocation): Promise<void> {
  const found = findProjectHere();
  if (typeof values.conversation !== "string") {
    throw new PerdureError("usage", "adopt needs --conversation.", {
      hint: `perdure adopt lists them; then: perdure adopt ${name} --conversation ID`,
    });
  }
  const resolved = await resolveConversation(found, values.conversation, values);
  const cwd = typeof values.cwd === "string" ? values.cwd : resolved.cwd;
  const live = values.live === true;
  const adopted = await adoptFound(found, { ...resolved, name, cwd, live, mustExist: values.cwd !== undefined }, out);
  out.result(adopted, () => `${adopted.address} is in ${adopted.session.vendor} conversation ${adopted.session.id}`);
  await noteNext(found, name, out);
}

/** Says how to go on with a worker that was adopted: in its fleet, in this terminal, or added to the fleet. */
async function noteNext(found: FoundProject, name: string, out: Output): Promise<void> {
  const start = startCommandHere(found, name);
  const add = isDeclaredHere(found, name)
    ? null
    : await (await import("../shared/launch/stored-entry.ts")).addCommandOf(name);
  out.note(printable(add ? `→ in the fleet: ${add}; in this terminal: ${start}` : `→ ${start}`));
}

function vendorOf(values: Invocation["values"]): string | null {
  return typeof values.vendor === "string" ? values.vendor : null;
}

interface ConversationRef {
  vendor: string;
  session: string;
  cwd: string | null;
}

/** Finds the listed conversation with this id, or prefix or suffix of one; one that is not listed needs its vendor. */
async function resolveConversation(
  found: FoundProject,
  idPart: string,
  values: Invocation["values"],
): Promise<ConversationRef> {
  const piece = idPart.replace(/^…/, "");
  if (piece === "")
    throw new PerdureError("usage", "adopt: --conversation is empty.", { hint: "perdure adopt lists them" });
  const matches = (await conversationsFor(found, vendorOf(values))).filter(
    ({ id }) => id.startsWith(piece) || id.endsWith(piece),
  );
  const exact = matches.filter(({ id }) => id === piece);
  const [only, another] = exact.length > 0 ? exact : matches;
  if (only && another === undefined) return { vendor: only.vendor, session: only.id, cwd: only.cwd };
  if (only && another) {
    throw new PerdureError("usage", `${idPart} matches ${matches.length} conversations.`, {
      hint: `give more of the id: ${only.id} (${only.vendor}), ${another.id} (${another.vendor})`,
    });
  }
  if (typeof values.vendor === "string") return { vendor: values.vendor, session: piece, cwd: null };
  throw new PerdureError("not-found", `No installed vendor has a conversation ${JSON.stringify(idPart)}.`, {
    hint: "perdure adopt --all lists them; one that is too old to be listed needs its whole id and --vendor",
  });
}

async function restore(name: string, { out }: Invocation): Promise<void> {
  const result = await callDaemon("restoreConversation", { target: targetOf(name) });
  const { bytes, aside } = result.restored;
  const what = aside === undefined ? "perdure's copy of its conversation" : "its own side of its conversation";
  const missing = missingIn(result.restored);
  out.result(result, () => `${result.address} is back in ${what} (${size(bytes)}${missing})`);
  if (aside !== undefined) out.note(printable(`The conversation with both sides was set aside: ${aside}`));
  out.note(`→ ${startCommandHere(findProjectHere(), name)}`);
}
