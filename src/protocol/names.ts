import { NAME_CHARS_MAX } from "../limits/index.ts";
import { PerdureError } from "./errors.ts";
import { parseRunId } from "./run-id.ts";

const GRAMMAR = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const RESERVED = new Set(["all", "me", "operator", "supervisor", "daemon"]);
/** Names that Windows treats as devices, with any extension; a worker's name may become a file name there one day. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/** Two names are the same name if their keys are equal: case is kept for people, ignored for identity. */
export function nameKey(name: string): string {
  return name.toLowerCase();
}

/** Returns the name, or throws with the reason and a slug that would do. */
export function checkName(name: string, what = "name"): string {
  const reason = whyNotAName(name);
  if (reason === null) return name;
  throw new PerdureError("usage", `${JSON.stringify(shorten(name))} is not a ${what}: ${reason}.`, {
    hint: `try ${slugName(name)}`,
  });
}

export function isName(name: string): boolean {
  return whyNotAName(name) === null;
}

function whyNotAName(name: string): string | null {
  if (name === "") return "it is empty";
  if (name.length > NAME_CHARS_MAX) return `it has ${name.length} characters, at most ${NAME_CHARS_MAX} are allowed`;
  if (!/^[A-Za-z0-9._-]*$/.test(name)) return "only ASCII letters, digits, '.', '_' and '-' are allowed";
  if (!GRAMMAR.test(name)) return "it must begin and end with a letter or digit";
  if (name.includes("..")) return "it contains '..'";
  if (RESERVED.has(nameKey(name))) return "that word is reserved";
  if (WINDOWS_DEVICE.test(name)) return "Windows keeps that word for a device";
  return null;
}

/** The legal name nearest to a text; there is one for every text. */
export function slugName(raw: string): string {
  // Every verb asks for the slug of its folder, most of which are names already: Unicode's tables are half a millisecond.
  if (isName(raw) && !raw.includes("--")) return raw;
  const ascii = raw
    .slice(0, 4 * NAME_CHARS_MAX)
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "");
  const slug = ascii
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/-{2,}/g, "-")
    .slice(0, NAME_CHARS_MAX)
    .replace(/^[^A-Za-z0-9]+/, "")
    .replace(/[^A-Za-z0-9]+$/, "");
  if (slug === "") return "worker";
  return isName(slug) ? slug : `${slug.slice(0, NAME_CHARS_MAX - 2).replace(/\./g, "-")}-1`;
}

/** The recipient of mail: a worker, or one of two words that no worker can be called. */
export function parseRecipient(text: string): { project: string | null; name: string } {
  const slash = text.lastIndexOf("/");
  const name = text.slice(slash + 1);
  if (!MAIL_WORDS.has(nameKey(name))) return parseAddress(text);
  return { project: slash < 0 ? null : checkName(text.slice(0, slash), "project"), name: nameKey(name) };
}

const MAIL_WORDS: ReadonlySet<string> = new Set(["operator", "supervisor"]);

/** Splits `project/name`; a name alone belongs to the caller's project. */
export function parseAddress(text: string): { project: string | null; name: string } {
  const slash = text.indexOf("/");
  // A run's id, as printed everywhere, stands for its worker.
  if (parseRunId(text)) return { project: null, name: text };
  if (slash < 0) return { project: null, name: checkName(text) };
  return { project: checkName(text.slice(0, slash), "project"), name: checkName(text.slice(slash + 1)) };
}

/** Returns the address of a worker: the slug of its project and its name. */
export function formatAddress(slug: string, name: string): string {
  return `${slug}/${name}`;
}

/** The candidates nearest to a misspelt word, best first, for an error message. */
export function nearest(word: string, candidates: Iterable<string>, most = 3): string[] {
  const near = [...candidates]
    .map((candidate) => ({ candidate, distance: editDistance(nameKey(word), nameKey(candidate)) }))
    .filter(
      ({ candidate, distance }) => distance <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3)),
    );
  return near
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

function editDistance(a: string, b: string): number {
  if (a.length > NAME_CHARS_MAX || b.length > NAME_CHARS_MAX) return Number.MAX_SAFE_INTEGER;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  let before = row;
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.MAX_SAFE_INTEGER;
      next.push(Math.min(substitution, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The text that somebody typed, cut for an error message. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
