import { join } from "node:path";
import { ScriptedHome } from "../scripted-home.ts";
import type { Talk } from "../../support/talk.ts";

interface RpcMessage {
  id?: number;
  result?: { thread?: { id: string } };
  error?: object;
}

/** A home of the scripted agent with codex's persona, and where codex keeps its files. */
export class CodexHome extends ScriptedHome {
  constructor() {
    super("codex");
  }

  /** Opens and names a conversation as a client of the real codex does. */
  async mint(name: string): Promise<string> {
    const talk = this.open(["app-server"]);
    await call(talk, 1, "initialize", { clientInfo: { name: "test", version: "1" } });
    talk.type(JSON.stringify({ method: "initialized" }));
    const { result } = await call(talk, 2, "thread/start", { cwd: this.work });
    const id = result?.thread?.id ?? "";
    await call(talk, 3, "thread/name/set", { threadId: id, name });
    await talk.end();
    return id;
  }

  rollouts(): string[] {
    return this.files(".codex/sessions");
  }

  /** The rollout file of a conversation; empty if there is none. */
  rolloutOf(id: string): string {
    return this.rollouts().find((file) => file.endsWith(`-${id}.jsonl`)) ?? "";
  }

  lockOf(id: string): string {
    return join(this.dir, ".codex/thread-writer-locks", `${id}.lock`);
  }
}

/** Makes a call and returns its answer; other messages meanwhile are skipped. */
export async function call(talk: Talk, id: number, method: string, params: object): Promise<RpcMessage> {
  talk.type(JSON.stringify({ id, method, params }));
  for (;;) {
    const message = JSON.parse((await talk.until(/(.*)\n/))[1] ?? "") as RpcMessage;
    if (message.id === id) return message;
  }
}
