import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { readProjectConfig } from "../../project/config/read.ts";
import type { FoundProject } from "../../project/find.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { FoundRecord } from "../../protocol/records/conversation.ts";
import { realPath } from "../../state/paths.ts";
import { missingIn } from "../../protocol/records/restored.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import { printable } from "../shared/output.ts";
import { callDaemon, daemonClient, listFromDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { environmentHere, knownEnvironmentHere } from "../shared/environment-here.ts";
import { findProjectHere, projectRefHere, targetOf, startCommandHere } from "../shared/here.ts";
import { age, size, table, type Cell } from "../shared/table.ts";
import { isFolder } from "../../state/files.ts";

export const adopt: Command = {
  summary: "give an existing conversation to a worker; alone, list them",
  usage: "[NAME] [options]",
  details: [
    "Alone it lists the conversations of every installed vendor that began in this project. With NAME and --conversation",
    "it binds the worker to one of them, which `perdure run NAME`, or `perdure up`, then resumes: one that you began by",
    "hand, or what is left of the worker's own after a loss. The worker's earlier conversation stays in its history. The",
    "vendor's config dir is that of the environment.",
    "",
    "With --kept the worker goes back to perdure's copy of its own conversation; the vendor's present file is set aside",
    "beside it (.lost). Where another process wrote to the conversation beside the worker, it goes back to the worker's own",
    "side, and the file with both is set aside among perdure's copies.",
  ].join("\n"),
  examples: ["perdure adopt", "perdure adopt coder --conversation 0b6f3a52", "perdure adopt coder --kept"],
  options: {
    conversation: { value: "ID", about: "the conversation; of a listed one a unique prefix or suffix is enough" },
    vendor: {
      value: "V",
      about: "its vendor, if it is not listed",
      completes: VENDOR_PROGRAMS.map(({ vendor }) => vendor),
    },
    cwd: { value: "DIR", about: "the folder it began in, if it is not listed", completes: "folder" },
    kept: { about: "go back to perdure's copy of the worker's own conversation" },
    all: { short: "a", about: "alone: list conversations that began anywhere" },
  },
  aliases: { session: "conversation" },
  completes: ["worker"],
  words: [0, 1],

  async run(invocation) {
    const [name] = invocation.words;
    if (name === undefined) return list(invocation);
    return invocation.values.kept === true ? restore(name, invocation) : bind(name, invocation);
  },
};

async function list({ values, out }: Invocation): Promise<void> {
  const found = findProjectHere();
  const everywhere = await listConversations(found, values);
  const here = values.all === true ? everywhere : everywhere.filter(({ cwd }) => isInside(found, cwd));
  out.result({ conversations: here }, () => {
    const rows = here.map((each): (string | Cell)[] => [
      { text: each.id, paint: out.paint.bold },
      each.vendor,
      `${age(each.at)} ago`,
      each.cwd ?? "-",
      {
        text: each.worker ?? (each.openIn === null ? "free" : `open in pid ${each.openIn}`),
        paint: usePaint(each, out.paint),
      },
      { text: each.words ?? "", paint: out.paint.dim },
    ]);
    return rows.length === 0
      ? ""
      : table(["CONVERSATION", "VENDOR", "LAST USED", "BEGAN IN", "USE", "LAST WORDS"], rows, out.paint.dim);
  });
  const elsewhere = everywhere.length - here.length;
  const where = values.all === true ? "was found" : "began in this project";
  if (here.length === 0) out.note(`No conversation of an installed vendor ${where}.`);
  if (elsewhere > 0) out.note(`${elsewhere} more began elsewhere: perdure adopt --all`);
  if (here.length > 0) out.note("→ perdure adopt NAME --conversation ID");
}

function usePaint({ worker, openIn }: FoundRecord, paint: Invocation["out"]["paint"]): (text: string) => string {
  if (worker !== null) return paint.dim;
  return openIn === null ? paint.green : paint.yellow;
}

async function listConversations(found: FoundProject, values: Invocation["values"]): Promise<FoundRecord[]> {
  const vendor = typeof values.vendor === "string" ? values.vendor : null;
  const { items } = await listFromDaemon("findConversations", {
    vendor,
    cwd: process.cwd(),
    environment: knownEnvironmentHere(readProjectConfig(found)),
  });
  return items;
}

/** Says whether a folder lies in the project's root or in the working tree of the current folder. */
function isInside(found: FoundProject, cwd: string | null): boolean {
  if (cwd === null) return false;
  const real = realPath(cwd);
  return [found.root, found.here].some((folder) => real === folder || real.startsWith(`${folder}${sep}`));
}

async function bind(name: string, { values, out }: Invocation): Promise<void> {
  const found = findProjectHere();
  if (typeof values.conversation !== "string") {
    throw new PerdureError("usage", "adopt needs --conversation.", {
      hint: `perdure adopt lists them; then: perdure adopt ${name} --conversation ID`,
    });
  }
  const { vendor, session, cwd: launchCwd } = await resolveConversation(found, values.conversation, values);
  const defaultCwd = launchCwd !== null && existsSync(launchCwd) ? launchCwd : ".";
  const cwd = resolve(typeof values.cwd === "string" ? values.cwd : defaultCwd);
  if (!isFolder(cwd)) {
    throw new PerdureError("not-found", `There is no folder ${cwd}.`, { hint: "--cwd is the folder it began in" });
  }
  const target = targetOf(name, projectRefHere(found));
  const given = environmentHere(readProjectConfig(found), out);
  const client = await daemonClient();
  const environment = client.isOlder ? { environment: given.environment } : given;
  const adopted = await client.call("adopt", { target, vendor, session, cwd, ...environment });
  out.result(adopted, () => `${adopted.address} is in ${adopted.session.vendor} conversation ${adopted.session.id}`);
  out.note(`→ ${startCommandHere(found, name)}`);
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
  const matches = (await listConversations(found, values)).filter(
    ({ id }) => id.startsWith(piece) || id.endsWith(piece),
  );
  const exact = matches.filter(({ id }) => id === piece);
  const [only, another] = exact.length > 0 ? exact : matches;
  if (only && another === undefined) return { vendor: only.vendor, session: only.id, cwd: only.cwd };
  if (only && another) {
    throw new PerdureError("usage", `${idPart} matches ${matches.length} conversations.`, {
      hint: `give more of it: ${only.id} (${only.vendor}), ${another.id} (${another.vendor})`,
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
