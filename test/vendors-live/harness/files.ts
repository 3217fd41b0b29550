import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

type Json = Record<string, unknown>;

export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export function writeJson(path: string, value: Json): void {
  writeText(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Changes a file a program may have written meanwhile; some put a comment on top of their JSON. */
export function editJson(path: string, edit: (value: Json) => Json): void {
  const text = existsSync(path) ? readFileSync(path, "utf8").replaceAll(/^\s*\/\/.*$/gm, "") : "{}";
  writeJson(path, edit(JSON.parse(text) as Json));
}

/** Writes a settings file that is not there yet; returns a function that removes it. */
export function inSettings(path: string, settings: Json): () => void {
  writeJson(path, settings);
  return () => rmSync(path);
}
