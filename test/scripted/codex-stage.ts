import { join } from "node:path";
import { Stage, type Talk } from "./stage.ts";

interface Message {
  id?: number;
  result?: { thread?: { id: string } };
  error?: object;
}

/** The agent in codex's clothes, and where codex keeps things. */
export class CodexStage extends Stage {
  constructor() {
    super("codex");
  }

  /** Opens and names a conversation as a client of the real one does. */
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

  /** Empty if there is none. */
  rolloutOf(id: string): string {
    return this.rollouts().find((file) => file.endsWith(`-${id}.jsonl`)) ?? "";
  }

  lockOf(id: string): string {
    return join(this.home, ".codex/thread-writer-locks", `${id}.lock`);
  }
}

/** The answer to a call; what else is said meanwhile is passed over. */
export async function call(talk: Talk, id: number, method: string, params: object): Promise<Message> {
  talk.type(JSON.stringify({ id, method, params }));
  for (;;) {
    const message = JSON.parse((await talk.until(/(.*)\n/))[1] ?? "") as Message;
    if (message.id === id) return message;
  }
}
