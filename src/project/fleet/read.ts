import { PerdureError } from "../../protocol/errors.ts";
import type { Declared } from "../../protocol/records/conversation.ts";
import { readConfigText, type Config, type ConfigText } from "../config/read.ts";
import { fleetRoot, repositoryOf, type FoundProject } from "../find.ts";
import { pathInside } from "../path-inside.ts";
import { configError, type ConfigSource } from "../config/errors.ts";
import { isCopyable } from "../worktree/copy.ts";
import { worktreeBranch, worktreePath, type Worktree } from "../worktree/paths.ts";
import { entryError, programOf, variablesOf, type FleetFileEntry } from "./entry.ts";
import { fleetNames } from "./names.ts";
import { readPrompt, renderPrompt, type Prompt } from "./prompt.ts";

// Reads the fleet file: every worker with its defaults, its folder and its first prompt. Whether a vendor exists is checked by
// the callers, because this room knows no vendors.

export interface FleetWorker {
  name: string;
  /** The key of the entry in the file: one entry with a `count` makes several workers. */
  entry: string;
  /** The vendor; null for a plain program. */
  vendor: string | null;
  /** The command of a plain program or one with declared words, followed by `args`; null for a vendor's. */
  command: string[] | null;
  args: string[];
  declared: Declared | null;
  /** The absolute path of the folder, inside the worktree if there is one; it may not exist yet. */
  cwd: string;
  worktree: Worktree | null;
  group: string | null;
  /** The part that the worker has, as its peers are told. */
  about: string | null;
  env: Record<string, string>;
  mode: "tmux" | "turn";
  /** The senders whose mail may begin a turn; null for the default. */
  turnsFrom: string[] | null;
  /** The mail that begins a turn: all of it, or only what waits for an answer. */
  activate: "mail" | "ask";
  restart: "never" | "on-failure" | "always";
  /** The text of the first turn of a new conversation. */
  prompt: string | null;
}

export interface Fleet {
  /** The path as a person would type it. */
  file: string;
  /** The text of the file, which the operator has to trust. */
  text: string;
  /** The main working tree, to which all paths are relative. */
  root: string;
  project: string | null;
  /** The folder, relative to the root, in which files are mail. */
  dropDir: string | null;
  workers: FleetWorker[];
}

/**
 * Reads the fleet file of the project's main tree, from whichever tree: two files would compete for the same names, and a worktree
 * has an old one. Returns null without a file or without workers in it. The slug, where known, is the project's name in prompts.
 */
export function readFleet(found: FoundProject, slug?: string): Fleet | null {
  const read = readConfigText(fleetRoot(found));
  return read === null || Object.keys(read.config.workers ?? {}).length === 0 ? null : fleetOf(found, read, slug);
}

/** Reads a file that declares no workers, and has something else that needs trust; null for any other. */
export function readDropsOnly(found: FoundProject): Fleet | null {
  const read = readConfigText(fleetRoot(found));
  return read?.config.mail?.drop_dir === undefined ? null : fleetOf(found, read);
}

/** Makes a fleet of a file's text, which need not be on disk yet. */
export function fleetOf(found: FoundProject, { config, source }: ConfigText, slug?: string): Fleet {
  const root = fleetRoot(found);
  const roots = { root, repository: repositoryOf(found) };
  const names = fleetNames(config, source);
  const peers = [...names.values()].flat();
  const project = slug ?? config.project ?? found.base;
  const workers = [...names].flatMap(([key, made]) => {
    const entry = entryOf(key, config, source);
    const program = programOf(entry);
    const prompt = promptOf(entry, program.vendor, root);
    return made.map((name) => {
      const folders = foldersOf(entry, name, roots);
      return {
        name,
        entry: key,
        ...program,
        ...folders,
        group: entry.own.group ?? entry.defaults.group ?? null,
        about: entry.own.about ?? null,
        env: variablesOf(entry),
        mode: modeOf(entry, program.vendor),
        ...activationOf(entry, program.vendor),
        restart: entry.own.restart ?? entry.defaults.restart ?? ("on-failure" as const),
        prompt: prompt && render(prompt, name, peers, project, folders.worktree?.path ?? root),
      };
    });
  });
  if (config.defaults?.copy !== undefined && workers.every(({ worktree }) => worktree === null)) {
    throw configError(
      source,
      ["defaults", "copy"],
      "defaults.copy needs a worktree, and no worker has one.",
      COPY_HINT,
    );
  }
  return {
    file: source.file,
    text: source.text,
    root,
    project: config.project ?? null,
    dropDir: config.mail?.drop_dir ?? null,
    workers,
  };
}

/** Makes an error at the line of an entry's key, for checks that callers make; the message continues the entry's name. */
export function fleetError(
  { root, file }: Fleet,
  key: string,
  ...about: [key: string, message: string, hint: string]
): Error {
  const read = readConfigText(root);
  if (read === null) return new PerdureError("not-found", `${file} no longer exists.`, { hint: "restore it" });
  return entryError(entryOf(key, read.config, read.source), ...about);
}

const COPY_HINT = "set worktree = true, or remove copy";

function entryOf(key: string, config: Config, source: ConfigSource): FleetFileEntry {
  return { key, own: config.workers?.[key] ?? {}, defaults: config.defaults ?? {}, source };
}

/** The tree to which the file's paths are relative, and the repository beside which worktrees are made. */
interface FleetRoots {
  root: string;
  repository: string;
}

function foldersOf(entry: FleetFileEntry, name: string, roots: FleetRoots): Pick<FleetWorker, "cwd" | "worktree"> {
  const worktree = worktreeOf(entry, name, roots);
  const folder = worktree?.path ?? roots.root;
  const path = entry.own.cwd ?? entry.defaults.cwd ?? ".";
  const cwd = pathInside(folder, path);
  if (cwd !== null) return { cwd, worktree };
  const hint = 'use a relative path without "..", such as "services/api"';
  throw entryError(entry, "cwd", `.cwd ${JSON.stringify(path)} is not inside ${folder}.`, hint);
}

function worktreeOf(entry: FleetFileEntry, name: string, { root, repository }: FleetRoots): Worktree | null {
  const { own, defaults } = entry;
  if (!(own.worktree ?? defaults.worktree ?? false)) {
    if (own.copy !== undefined) throw entryError(entry, "copy", ".copy needs a worktree, and it has none.", COPY_HINT);
    if (own.worktree_hooks === true) {
      const hint = "set worktree = true, or remove worktree_hooks";
      throw entryError(entry, "worktree_hooks", ".worktree_hooks needs a worktree, and it has none.", hint);
    }
    return null;
  }
  const copy = own.copy ?? defaults.copy ?? [];
  for (const file of copy) {
    if (isCopyable(root, file)) continue;
    const hint = 'use a relative path without "..", such as ".env"';
    throw entryError(entry, "copy", `.copy ${JSON.stringify(file)} is not a file inside the project.`, hint);
  }
  const hooks = own.worktree_hooks ?? defaults.worktree_hooks ?? false;
  return { path: worktreePath(repository, name), branch: worktreeBranch(name), copy, ...(hooks ? { hooks } : {}) };
}

/** Reads the entry's first prompt; only an agent takes one. */
function promptOf(entry: FleetFileEntry, vendor: string | null, root: string): Prompt | null {
  const { own, defaults } = entry;
  if (vendor === null && own.prompt !== undefined) {
    throw entryError(entry, "prompt", ".prompt is only for agents, and this is a plain program.", "remove it");
  }
  const path = vendor === null ? undefined : (own.prompt ?? defaults.prompt);
  return path === undefined ? null : readPrompt(entry, path, root);
}

/** Returns the entry's mode; only an agent has turns. */
function modeOf(entry: FleetFileEntry, vendor: string | null): FleetWorker["mode"] {
  const { own, defaults } = entry;
  if (vendor === null && own.mode === "turn") {
    throw entryError(
      entry,
      "mode",
      '.mode "turn" is only for agents, and this is a plain program.',
      'set mode = "tmux"',
    );
  }
  return own.mode ?? (vendor === null ? undefined : defaults.mode) ?? "tmux";
}

/** Returns what begins the entry's turns; only a worker of turns has any. */
function activationOf(entry: FleetFileEntry, vendor: string | null): Pick<FleetWorker, "turnsFrom" | "activate"> {
  const { own, defaults } = entry;
  for (const key of ["turns_from", "activate"] as const) {
    if (own[key] === undefined || modeOf(entry, vendor) === "turn") continue;
    throw entryError(entry, key, `.${key} is only for mode = "turn".`, "remove it, or set the mode");
  }
  return {
    turnsFrom: own.turns_from ?? defaults.turns_from ?? null,
    activate: own.activate ?? defaults.activate ?? "mail",
  };
}

function render(prompt: Prompt, name: string, allNames: string[], project: string, root: string): string {
  const peers = allNames.filter((each) => each !== name).join(", ") || "nobody";
  return renderPrompt(prompt, { name, project, peers, root });
}
