import type { StdinServer } from "../../persona.ts";
import { asObject, parseLine, type TranscriptFile } from "../../transcript-file.ts";
import { printJson } from "../../print.ts";
import { CODEX_VERSION, type Rollouts } from "./rollouts.ts";

type Params = Readonly<Record<string, unknown>>;

/** `app-server`: JSON-RPC, one message a line, with just enough of it to open a conversation and name it. */
export function appServer(home: string, rollouts: Rollouts): StdinServer {
  const server = new AppServer(home, rollouts);
  return {
    async serve(lines) {
      for await (const line of lines) if (line.trim() !== "") server.hear(line);
      return 0;
    },
  };
}

class AppServer {
  readonly #home: string;
  readonly #rollouts: Rollouts;
  readonly #threads = new Map<string, { thread: TranscriptFile; cwd: string }>();
  #initialized = false;

  constructor(home: string, rollouts: Rollouts) {
    this.#home = home;
    this.#rollouts = rollouts;
  }

  hear(line: string): void {
    const message = parseLine(line);
    const { id, method } = message ?? {};
    if (id === undefined) return; // a notification: `initialized`
    const call = METHODS.get(String(method));
    if (call === undefined) return refuse(id, `Invalid request: unknown variant \`${String(method)}\``);
    if (!this.#initialized && call !== METHODS.get("initialize")) return refuse(id, "Not initialized");
    call(this, id, asObject(message?.params));
  }

  initialize(id: unknown): void {
    this.#initialized = true;
    const about = { codexHome: this.#home, platformFamily: "unix", platformOs: process.platform };
    printJson({ id, result: { userAgent: `scripted/${CODEX_VERSION}`, ...about } });
    // Word of something else comes between the calls: whoever asks must look for its own answer.
    notify("remoteControl/status/changed", { status: "disabled", environmentId: null });
  }

  startThread(id: unknown, params: Params): void {
    const cwd = typeof params.cwd === "string" ? params.cwd : process.cwd();
    const thread = this.#rollouts.begin(this.#rollouts.mint(), cwd);
    this.#threads.set(thread.id, { thread, cwd });
    const described = describe(thread, cwd, null);
    printJson({ id, result: { thread: described, model: "scripted", modelProvider: "scripted", cwd } });
    notify("thread/started", { thread: described });
  }

  /** Naming a thread, and not starting it, is what writes its file. */
  nameThread(id: unknown, { threadId, name }: Params): void {
    const entry = this.#threads.get(String(threadId));
    if (entry === undefined || typeof name !== "string") {
      return refuse(id, `no rollout found for thread id ${String(threadId)}`);
    }
    entry.thread.open();
    this.#rollouts.name(entry.thread.id, name);
    printJson({ id, result: {} });
    notify("thread/name/updated", { threadId, threadName: name });
  }
}

const METHODS: ReadonlyMap<string, (server: AppServer, id: unknown, params: Params) => void> = new Map([
  ["initialize", (server, id) => server.initialize(id)],
  ["thread/start", (server, id, params) => server.startThread(id, params)],
  ["thread/name/set", (server, id, params) => server.nameThread(id, params)],
]);

function describe(thread: TranscriptFile, cwd: string, name: string | null): object {
  const about = { preview: "", ephemeral: false, modelProvider: "scripted", status: { type: "idle" } };
  return {
    id: thread.id,
    sessionId: thread.id,
    ...about,
    path: thread.file,
    cwd,
    cliVersion: CODEX_VERSION,
    name,
    turns: [],
  };
}

function notify(method: string, params: object): void {
  printJson({ method, params, emittedAtMs: Date.now() });
}

function refuse(id: unknown, message: string): void {
  printJson({ error: { code: -32600, message }, id });
}
