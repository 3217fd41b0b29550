import { join } from "node:path";
import { parse } from "smol-toml";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { readBounded, readIfReadable } from "../../state/bounded-read.ts";
import { mayNameOurs } from "../shared/mcp.ts";
import { fieldsOf, isTable, textOf } from "../../util/fields.ts";

/**
 * Reads a profile, which is a file beside codex's own settings, into options: the app-server takes no profile, but takes
 * settings. Only those of the model provider are taken, and nothing that must not be seen on a command line.
 */
export function profileSettings(configDir: string, profile: string): string[] {
  const file = join(configDir, `${profile}.config.toml`);
  const text = readBounded(file, VENDOR_FILE_BYTES_MAX);
  if (text === null) return [];
  try {
    const { model_provider: provider, model_providers: providers } = parse(text);
    return [
      ...(typeof provider === "string" ? ["-c", `model_provider=${inline(provider)}`] : []),
      ...(isTable(providers) ? ["-c", `model_providers=${inline(mapTable(providers, withoutSecrets))}`] : []),
    ];
  } catch (cause) {
    throw new PerdureError("usage", `codex's profile ${file} cannot be read.`, { hint: `edit ${file}`, cause });
  }
}

export const THREAD_STORE = "experimental_thread_store";

/** Reads which store of conversations a file of codex's settings asks for; null for one that cannot be read, as codex says itself. */
export function threadStoreIn(file: string): string | null {
  const text = readIfReadable(file, VENDOR_FILE_BYTES_MAX);
  if (!text.includes(THREAD_STORE)) return null;
  try {
    return textOf(fieldsOf(parse(text)[THREAD_STORE]).type);
  } catch {
    return null;
  }
}

/** Reads the names of the MCP servers in a file of codex's settings; none for one that cannot be read, as codex says itself. */
export function serversInToml(file: string): string[] {
  const text = readIfReadable(file, VENDOR_FILE_BYTES_MAX);
  if (!mayNameOurs(text)) return [];
  try {
    return Object.keys(fieldsOf(parse(text).mcp_servers));
  } catch {
    return [];
  }
}

const PUBLIC_FIELDS = new Set(["name", "base_url", "wire_api", "env_key", "requires_openai_auth"]);

function withoutSecrets(provider: unknown): unknown {
  if (!isTable(provider)) return provider;
  return Object.fromEntries(Object.entries(provider).filter(([key]) => PUBLIC_FIELDS.has(key)));
}

function mapTable(table: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}

/** Writes a value as TOML on one line. */
export function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(",")}]`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, each]) => `${quotedKey(key)}=${inline(each)}`);
  return `{${pairs.join(",")}}`;
}

function quotedKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
