import { stripVTControlCharacters } from "node:util";
import { SECRET_CHARS_MIN, WORDS_LENGTH_MAX } from "../../../limits/index.ts";
import { adapterOf } from "../../../vendors/index.ts";

/**
 * Makes the words with which a vendor's program tells of an error fit to be shown and recorded: one short line without the
 * secrets of the worker's environment, because programs print keys, too; and what helps, where that is known. A value is a secret if
 * its name says so: blanking every value would blank folders, hosts and plain words.
 */
export function shownWords(
  words: string,
  vendor: string | null,
  environment: Readonly<Record<string, string>>,
): string {
  const plain = stripVTControlCharacters(words)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const told = withoutValues(plain, environment);
  const line = told.length > WORDS_LENGTH_MAX ? `${told.slice(0, WORDS_LENGTH_MAX)}…` : told;
  const remedy = remedyFor(plain, vendor);
  return remedy === null ? line : `${line} (${remedy})`;
}

/** Replaces the values of variables whose names say that they are secrets, the longest first. */
export function withoutValues(text: string, environment: Readonly<Record<string, string>>): string {
  const secrets = Object.entries(environment)
    .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= SECRET_CHARS_MIN)
    .map(([, value]) => value);
  return secrets.toSorted((a, b) => b.length - a.length).reduce((rest, value) => rest.replaceAll(value, "…"), text);
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(^|_)PAT$/i;

function remedyFor(words: string, vendor: string | null): string | null {
  for (const [form, remedy] of adapterOf(vendor ?? "")?.screen?.remedies ?? []) {
    const found = form.exec(words);
    if (found) return remedy.replace("$1", () => found[1] ?? "");
  }
  return null;
}
