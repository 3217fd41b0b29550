import type * as Jsonc from "jsonc-parser";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject } from "../../util/fields.ts";

declare const PERDURE_VERSION: string | undefined;

/** Loads the parser of JSON with comments at its first use: a daemon that never starts such a vendor does without it. */
export function jsonc(): typeof Jsonc {
  const loaded: unknown =
    typeof PERDURE_VERSION === "string"
      ? require("jsonc-parser")
      : process.getBuiltinModule("node:module").createRequire(import.meta.filename)("jsonc-parser");
  return loaded as typeof Jsonc;
}

/** Reads a vendor's settings, with comments or without; none where the file is missing or cannot be read: its vendor says so itself. */
export function readSettings(file: string): Readonly<Record<string, unknown>> {
  return parseSettings(readIfReadable(file, VENDOR_FILE_BYTES_MAX));
}

/**
 * Parses settings that may have comments in them. They may come with a repository, and be nested so deeply that this parser has no
 * stack for them; Node's own needs none, and is what most vendors' programs read them with.
 */
export function parseSettings(text: string): Readonly<Record<string, unknown>> {
  if (!text.includes("{")) return {};
  const plain = text.replace(/^\uFEFF/, "");
  try {
    return fieldsOf(jsonc().parse(plain, [], { allowTrailingComma: true }));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return parseObject(plain) ?? {};
  }
}
