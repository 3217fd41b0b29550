import { relative } from "node:path";
import { PROMPT_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { nearest } from "../../protocol/names.ts";
import { own } from "../../util/own.ts";
import { readForeign } from "../../state/bounded-read.ts";
import { pathInside } from "../path-inside.ts";
import { entryError, type FleetFileEntry } from "./entry.ts";

/** The values of the `{{…}}` placeholders in a prompt. */
export interface PromptWords {
  readonly name: string;
  readonly project: string;
  readonly peers: string;
  readonly root: string;
}

/** The text of a prompt, read from a file inside the project. */
export interface Prompt {
  /** The path as a person would type it. */
  file: string;
  text: string;
}

export function readPrompt(entry: FleetFileEntry, path: string, root: string): Prompt {
  const file = pathInside(root, path);
  const quoted = JSON.stringify(path);
  if (file === null) {
    throw entryError(entry, "prompt", `.prompt ${quoted} is not inside the project.`, 'such as "prompts/coder.md"');
  }
  const promptError = (why: string): Error => entryError(entry, "prompt", `.prompt ${quoted} ${why}.`, `edit ${file}`);
  const found = readForeign(file, PROMPT_BYTES_MAX);
  if (found === null) throw promptError("does not exist");
  if ("problem" in found) throw promptError(found.problem);
  if (found.text.trim() === "") throw promptError("is empty");
  if (found.text.includes("\0")) throw promptError("contains a NUL character");
  return { file: relative(process.cwd(), file), text: found.text };
}

/** Replaces the placeholders in one pass: a value that contains `{{…}}` is not expanded again. */
export function renderPrompt({ file, text }: Prompt, words: PromptWords): string {
  const table: Readonly<Record<string, string>> = { ...words };
  const rendered = text.replace(/\{\{([^{}\n]*)\}\}/g, (whole, word: string, at: number) => {
    const value = own(table, word.trim());
    if (value !== undefined) return value;
    const [best] = nearest(word.trim(), Object.keys(table));
    const line = text.slice(0, at).split("\n").length;
    throw new PerdureError("usage", `${file}:${line}: unknown placeholder ${whole}.`, {
      hint: best
        ? `did you mean {{${best}}}?`
        : `known: ${Object.keys(table)
            .map((each) => `{{${each}}}`)
            .join(" ")}`,
    });
  });
  const bytes = Buffer.byteLength(rendered);
  if (bytes <= PROMPT_BYTES_MAX) return rendered;
  throw new PerdureError("usage", `${file} expands to ${bytes} bytes; the limit is ${PROMPT_BYTES_MAX}.`, {
    hint: `edit ${file}`,
  });
}
