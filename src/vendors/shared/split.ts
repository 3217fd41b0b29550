import { EXCERPT_CHARS_MAX } from "../../limits/index.ts";
import type { Gap, Leaf, Split } from "../../protocol/records/conversation.ts";

// Some vendors keep a conversation as a tree. Two processes that write to one transcript make it split: each goes on from
// where it was, and the next resume sees one side only.

/** The marks of what the worker's own runs have written: its last prompts, newest last, and the folder of its last run. */
export interface OwnMarks {
  prompts: readonly string[];
  runDir: string | null;
}

/** One entry of a transcript that is a tree. */
export interface TreeEntry {
  id: string;
  /** The entry it follows; null for the first one. */
  parent: string | null;
  /** Further entries that it stands for, such as those that a compaction has kept. */
  includes?: readonly string[];
  /** A person or the agent has said it. */
  spoken: boolean;
  /** The beginning of what was said. */
  words: string | null;
  /** One of the worker's own runs has written it. */
  own: boolean;
  /** The vendor resumes from here on, with a summary of what came before: an earlier entry that is missing is no loss. */
  sumsUp?: boolean;
}

/** The part of a line that is kept while a transcript is read: the lines themselves may be long, and many. */
export interface TreeLine {
  entry: TreeEntry | null;
  /** A process has written down from where the vendor is to go on. */
  checkpoint?: { leaf: string; isExplicit: boolean };
}

/** The tree of a transcript, in the order of its lines, and the entry from which the vendor would go on. */
interface TranscriptTree {
  entries: readonly TreeEntry[];
  resumed: string | null;
}

/**
 * Finds out whether the vendor would resume without the worker's own last turn, because another process has gone on from an
 * earlier entry. Going back to an earlier entry is no split, nor is it one when a part of the tree is missing.
 */
function splitOf({ entries, resumed }: TranscriptTree): Split | null {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const marked = entries.findLast(({ own }) => own);
  const own = marked && spokenAtOrAbove(byId, marked);
  if (!own || resumed === null) return null;
  const theirs = chainOf(byId, resumed);
  const ours = chainOf(byId, own.id);
  if (!theirs.whole || !ours.whole || theirs.ids.has(own.id)) return null;
  const theirLast = [...theirs.ids].map((id) => byId.get(id)).find((entry) => entry?.spoken === true);
  if (!theirLast || ours.ids.has(theirLast.id)) return null;
  const ourSide = sideOf(entries, byId, own.id);
  const ourLast = entries.findLast(({ id, spoken }) => spoken && ourSide.has(id)) ?? own;
  return { ours: leafOf(entries, byId, ourLast, theirs.ids), theirs: leafOf(entries, byId, theirLast, ours.ids) };
}

/**
 * Finds out whether the vendor would resume without turns of the worker's own that are in the file, because an entry in between was
 * never written, or cannot be read: a vendor's walk up from the last entry ends there.
 */
function gapOf({ entries, resumed }: TranscriptTree): Gap | null {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const reached = new Set<string>();
  let below: TreeEntry | undefined;
  for (let id = resumed; id !== null && !reached.has(id);) {
    const entry = byId.get(id);
    if (entry === undefined) {
      const out = below ? entries.slice(0, entries.indexOf(below)).filter((each) => !reached.has(each.id)) : [];
      if (!out.some(({ own, spoken }) => own && spoken)) return null;
      return { missing: id, words: shortened(out.flatMap(({ words }) => words ?? [])) };
    }
    if (entry.sumsUp === true) return null;
    reached.add(id);
    for (const other of entry.includes ?? []) reached.add(other);
    below = entry;
    id = entry.parent;
  }
  return null;
}

/** Reads the splits and gaps of one vendor's transcripts; pure. */
export interface SplitReader {
  /** Returns what has to be known of a line; null for one that tells nothing of the tree. */
  read(line: Line, own: OwnMarks): TreeLine | null;
  find(lines: readonly TreeLine[]): Split | null;
  findGap(lines: readonly TreeLine[]): Gap | null;
  /** Returns how a line is known that was said beside the worker's own side since the two parted; null if there is no split. */
  besideOwn(lines: readonly TreeLine[]): ((line: Line) => boolean) | null;
}

interface TreeForm {
  read: (line: Line, own: OwnMarks) => TreeLine | null;
  /** Returns the entry that a line is, or is about. */
  entryIdOf: (line: Line) => string | null;
  /** Returns the entry from which the vendor goes on; absent where that is the last one, whoever wrote it. */
  resumedOf?: (lines: readonly TreeLine[], entries: readonly TreeEntry[]) => string | null;
}

/** Makes the reader from the form of a vendor's tree. */
export function splitReader({ read, entryIdOf, resumedOf }: TreeForm): SplitReader {
  const treeOf = (lines: readonly TreeLine[]): TranscriptTree => {
    const entries = lines.flatMap(({ entry }) => entry ?? []);
    return { entries, resumed: resumedOf ? resumedOf(lines, entries) : (entries.at(-1)?.id ?? null) };
  };
  return {
    read,
    find: (lines) => splitOf(treeOf(lines)),
    findGap: (lines) => gapOf(treeOf(lines)),
    besideOwn(lines) {
      const tree = treeOf(lines);
      const split = splitOf(tree);
      if (split === null) return null;
      const out = besideOwn(tree, split);
      return (line) => {
        const entry = entryIdOf(line);
        return entry !== null && out.has(entry);
      };
    },
  };
}

/** Returns the beginning of what was said, on one line. It is a copy: a part of a long text would keep all of that in memory. */
export function excerptOf(words: string | undefined): string | null {
  if (words === undefined) return null;
  return Buffer.from(words.replaceAll(/\s+/g, " ").trim().slice(0, EXCERPT_CHARS_MAX)).toString("utf8");
}

export type Line = Readonly<Record<string, unknown>>;

/** Returns the entries of the other side, from where it parted from the worker's own. */
function besideOwn({ entries, resumed }: TranscriptTree, { ours }: Split): Set<string> {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const kept = chainOf(byId, ours.id).ids;
  const out = new Set([...chainOf(byId, resumed ?? "").ids].filter((id) => !kept.has(id)));
  for (const { id, parent } of entries) if (parent !== null && out.has(parent)) out.add(id);
  return out;
}

function spokenAtOrAbove(byId: ReadonlyMap<string, TreeEntry>, from: TreeEntry): TreeEntry | undefined {
  return [...chainOf(byId, from.id).ids].map((id) => byId.get(id)).find((entry) => entry?.spoken === true);
}

/** Returns the entry and all before it, nearest first; not `whole` if an entry is named that is not there, or a circle is. */
function chainOf(byId: ReadonlyMap<string, TreeEntry>, from: string): { ids: Set<string>; whole: boolean } {
  const ids = new Set<string>();
  for (let id: string | null = from; id !== null;) {
    const entry = byId.get(id);
    if (entry === undefined || ids.has(id)) return { ids, whole: false };
    ids.add(id);
    for (const other of entry.includes ?? []) ids.add(other);
    id = entry.parent;
  }
  return { ids, whole: true };
}

/**
 * Returns the entry and all that follow it. A transcript has tens of thousands of entries, so each is looked at once: the walk up
 * from one ends where another has been.
 */
function sideOf(
  entries: readonly TreeEntry[],
  byId: ReadonlyMap<string, TreeEntry>,
  root: string,
): ReadonlySet<string> {
  const side = new Set([root]);
  const seen = new Set<string>();
  for (const start of entries) {
    const path: string[] = [];
    let id: string | null = start.id;
    while (id !== null && !side.has(id) && !seen.has(id)) {
      seen.add(id);
      path.push(id);
      const entry = byId.get(id);
      id = entry?.includes?.includes(root) === true ? root : (entry?.parent ?? null);
    }
    if (id !== null && side.has(id)) for (const each of path) side.add(each);
  }
  return side;
}

function leafOf(
  entries: readonly TreeEntry[],
  byId: ReadonlyMap<string, TreeEntry>,
  leaf: TreeEntry,
  other: ReadonlySet<string>,
): Leaf {
  const chain = chainOf(byId, leaf.id).ids;
  const turns = entries.filter(({ id, words }) => words !== null && chain.has(id) && !other.has(id));
  return { id: leaf.id, words: shortened(turns.map(({ words }) => words ?? "")) };
}

/** Joins the last two things said on a side: the prompt and its answer. */
function shortened(said: readonly string[]): string | null {
  const text = said.slice(-2).join(" / ");
  return text === "" ? null : text;
}
