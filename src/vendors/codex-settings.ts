import { join } from "node:path";
import { parse } from "smol-toml";
import { PerdureError } from "../protocol/errors.ts";
import { readIfThere } from "../state/files.ts";

/** A profile is a file beside codex's own settings; its app-server takes no profile, but takes each setting. */
export function profileSettings(configDir: string, profile: string): string[] {
  const file = join(configDir, `${profile}.config.toml`);
  const text = readIfThere(file);
  if (text === null) return [];
  try {
    return Object.entries(parse(text)).flatMap(([key, value]) => ["-c", `${quotedKey(key)}=${inline(value)}`]);
  } catch (cause) {
    throw new PerdureError("usage", `codex's profile ${file} cannot be read.`, { hint: "correct it", cause });
  }
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(",")}]`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, each]) => `${quotedKey(key)}=${inline(each)}`);
  return `{${pairs.join(",")}}`;
}

function quotedKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
