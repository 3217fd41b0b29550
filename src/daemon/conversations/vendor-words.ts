import { stripVTControlCharacters } from "node:util";
import { WORDS_LENGTH_MAX } from "../../limits/index.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";

/**
 * Makes the words with which a vendor's program tells of an error fit to be shown and recorded: one short line without the
 * values of the worker's recorded environment, because programs print keys, too; and what helps, where that is known.
 */
export function shownWords(words: string, { environment, vendor }: Pick<Worker, "environment" | "vendor">): string {
  const plain = stripVTControlCharacters(words)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const told = withoutValues(plain, environment);
  const line = told.length > WORDS_LENGTH_MAX ? `${told.slice(0, WORDS_LENGTH_MAX)}…` : told;
  const remedy = remedyFor(plain, vendor);
  return remedy === null ? line : `${line} (${remedy})`;
}

/** Replaces the values of a recorded environment that are long enough to be secrets, the longest first. */
export function withoutValues(text: string, environment: Worker["environment"]): string {
  const secrets = Object.values(environment).filter((value) => value.length >= 8);
  return secrets.toSorted((a, b) => b.length - a.length).reduce((rest, value) => rest.replaceAll(value, "…"), text);
}

function remedyFor(words: string, vendor: string | null): string | null {
  for (const [form, remedy] of adapterOf(vendor ?? "")?.screen?.remedies ?? []) {
    const found = form.exec(words);
    if (found) return remedy.replace("$1", () => found[1] ?? "");
  }
  return null;
}
