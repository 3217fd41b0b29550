import { rmSync } from "node:fs";
import { join } from "node:path";
import { MINT_WAIT_MS } from "../../limits/index.ts";
import { readIfThere } from "../../state/files.ts";
import type { LaunchFile } from "../adapter.ts";
import type { OpencodeServer } from "./server.ts";
import { parseObject } from "../shared/transcript.ts";

const FILE = "first-prompt.json";

/** What its server is told to say first, with the model and the agent that the user has chosen for the program. */
export function firstFile(text: string, model: string | null, agent: string | null): LaunchFile {
  const [providerID = "", ...rest] = model?.split("/") ?? [];
  const chosen = rest.length === 0 ? {} : { model: { providerID, modelID: rest.join("/") } };
  const body = { parts: [{ type: "text", text }], ...chosen, ...(agent === null ? {} : { agent }) };
  return { name: FILE, text: `${JSON.stringify(body)}\n` };
}

/** Said once at most, whoever asks again: twice would be two turns. */
export async function sayFirst(runDir: string, session: string, server: OpencodeServer): Promise<void> {
  const body = parseObject(readIfThere(join(runDir, FILE)) ?? "");
  if (body === null) return;
  rmSync(join(runDir, FILE));
  await server.call("POST", `/session/${session}/prompt_async`, body, MINT_WAIT_MS);
}
