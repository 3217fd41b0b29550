import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isErrno, readIfThere } from "../../../state/files.ts";
import { PersonaRefusal, type OpenConversation, type ConversationStore, type ConversationTurn } from "../../persona.ts";
import { asObject, readLines, TranscriptFile, type TranscriptFormat } from "../../transcript-file.ts";
import { uuid } from "../../uuid.ts";

export const CLAUDE_VERSION = "2.1.325";

/** Conversations in `projects/<slug>/<uuid>.jsonl`. One is found by its id in any slug, and continued there. */
export function conversationsIn(projects: string, name: string | null): ConversationStore {
  const find = (id: string): string | null => {
    const files = foldersIn(projects).map((folder) => join(projects, folder, `${id}.jsonl`));
    return files.find((file) => existsSync(file)) ?? null;
  };
  return {
    mint: uuid,
    newest(cwd): string | null {
      const folder = join(projects, slugOf(cwd));
      const files = foldersIn(folder).map((file) => ({ file, atMs: statSync(join(folder, file)).mtimeMs }));
      const last = files.toSorted((a, b) => a.atMs - b.atMs).at(-1);
      return last === undefined ? null : basename(last.file, ".jsonl");
    },
    begin(id, cwd): OpenConversation {
      if (find(id) !== null) throw new PersonaRefusal(`Error: Session ID ${id} is already in use.`);
      return new TranscriptFile(id, join(projects, slugOf(cwd), `${id}.jsonl`), formatOf(id, name, null));
    },
    resume(id): OpenConversation {
      const file = find(id);
      const lines = readLines((file === null ? null : readIfThere(file)) ?? "");
      const branch = branchOf(lines);
      const turns = branch.flatMap((line) => turnOf(line) ?? []);
      if (file === null || turns.length === 0) throw new PersonaRefusal(`No conversation found with session ID: ${id}`);
      const title = lines.findLast(({ type }) => type === "custom-title")?.customTitle;
      const leaf = branch.at(-1)?.uuid;
      const format = formatOf(id, name, typeof leaf === "string" ? leaf : null);
      return new TranscriptFile(id, file, format, { turns, name: typeof title === "string" ? title : null });
    },
  };
}

/** The slug of a folder; different folders can get the same one. A slug over 200 characters is cut and gets a checksum of the path. */
export function slugOf(cwd: string): string {
  const slug = cwd.replace(/[^A-Za-z0-9]/g, "-");
  if (slug.length <= 200) return slug;
  let sum = 0;
  for (let at = 0; at < cwd.length; at++) sum = (sum * 31 + cwd.charCodeAt(at)) | 0;
  return `${slug.slice(0, 200)}-${Math.abs(sum).toString(36)}`;
}

/** The branch of the tree that a resume sees: the last turn and all before it. What another process said beside it is left out. */
function branchOf(lines: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>>[] {
  const turns = lines.filter((line) => turnOf(line) !== null || line.type === "attachment");
  const byId = new Map(turns.map((line) => [line.uuid, line]));
  const branch: Readonly<Record<string, unknown>>[] = [];
  for (let line = turns.at(-1); line && !branch.includes(line); line = byId.get(line.parentUuid)) branch.unshift(line);
  return branch;
}

/** The id of the prompt that the process is about to write down; its hooks are told the same. */
const prompting: { id: string | null } = { id: null };

/** Chooses the id of the next prompt. */
export function beginPrompt(): string {
  prompting.id = uuid();
  return prompting.id;
}

/** The turns of a transcript are a tree: each names the one before it. */
function formatOf(id: string, name: string | null, leaf: string | null): TranscriptFormat {
  let parentUuid = leaf;
  const opening =
    name === null
      ? []
      : [
          { type: "custom-title", customTitle: name, sessionId: id },
          { type: "agent-name", agentName: name, sessionId: id },
        ];
  return {
    opening: () => opening,
    line({ role, text }, cwd) {
      const line = {
        parentUuid,
        isSidechain: false,
        ...(role === "user" && { promptId: prompting.id ?? beginPrompt() }),
        type: role === "user" ? "user" : "assistant",
        message: role === "user" ? { role, content: text } : { role: "assistant", content: [{ type: "text", text }] },
        uuid: uuid(),
        timestamp: new Date().toISOString(),
        cwd,
        sessionId: id,
        version: CLAUDE_VERSION,
      };
      prompting.id = null;
      parentUuid = line.uuid;
      return line;
    },
    queued: (content) => ({
      type: "queue-operation",
      operation: "enqueue",
      timestamp: new Date().toISOString(),
      sessionId: id,
      content,
    }),
    attachment(text, cwd) {
      const attachment = { type: "hook_additional_context", content: [text] };
      const line = { parentUuid, isSidechain: false, attachment, type: "attachment", uuid: uuid(), cwd, sessionId: id };
      parentUuid = line.uuid;
      return line;
    },
  };
}

function turnOf({ type, message }: Readonly<Record<string, unknown>>): ConversationTurn | null {
  const { content } = asObject(message);
  if (type === "user" && typeof content === "string") return { role: "user", text: content };
  if (type !== "assistant" || !Array.isArray(content)) return null;
  const { text } = asObject(content[0]);
  return typeof text === "string" ? { role: "agent", text } : null;
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
