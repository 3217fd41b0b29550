import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { within } from "../support/check.ts";
import type { UpgradeHome } from "./upgrade-home.ts";

/**
 * The client's program: it claims a name, reads its mail, and executes the orders on its stdin, one per line. Mail that begins
 * with "keep" is acknowledged only when an order says so.
 */
const SOURCE = `
import { createInterface } from "node:readline";
import { connect } from "perdure";

const say = (kind, fields) => console.log(JSON.stringify({ kind, ...fields }));
const failed = (id) => (error) => say("failed", { id, code: error.code ?? String(error) });
const perdure = await connect();
const lease = await perdure.claim(process.argv[2]);
const kept = new Map();

const orders = {
  send: ({ to, body, id }) => lease.send(to, body, { id }).then(({ state }) => say("sent", { id, state }), failed(id)),
  ask: ({ to, body, id }) =>
    lease.ask(to, body, { id }).then((answer) => say("answer", { id, from: answer.from, body: answer.body }), failed(id)),
  ack: ({ id }) => kept.get(id).ack().then((acked) => say("acked", { id, acked }), failed(id)),
};

lease.onDisplaced((by) => say("displaced", { by }));
say("lease", { run: lease.run, generation: lease.generation, token: lease.token, pid: process.pid });
createInterface({ input: process.stdin }).on("line", (line) => {
  const order = JSON.parse(line);
  orders[order.do](order);
});
try {
  for await (const message of lease.receive()) {
    const { id, from, body, attempt } = message;
    if (body.startsWith("keep")) kept.set(id, message);
    else await message.ack();
    say("mail", { id, from, body, attempt });
  }
  say("over", {});
} catch (error) {
  failed("receive")(error);
}
`;

type Order =
  | { do: "send" | "ask"; to: string; body: string; id: string }
  /** Acknowledges a message that the client kept. */
  | { do: "ack"; id: string };

/** One line that the client has printed. */
interface ClientReport {
  kind: "lease" | "mail" | "sent" | "answer" | "acked" | "displaced" | "failed" | "over";
  id?: string;
  [field: string]: unknown;
}

export interface ClientLease {
  run: string;
  generation: number;
  token: string;
  pid: number;
}

/** A process that has imported the old version's library and keeps running while the package is replaced. */
export class LibraryClient {
  readonly child: ChildProcess;
  readonly reports: ClientReport[] = [];
  readonly #reportEvents = new EventEmitter();
  #errors = "";

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stdin?.on("error", () => undefined); // a test waits for its end instead
    child.stderr?.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()));
    if (child.stdout) {
      createInterface({ input: child.stdout }).on("line", (line) => {
        this.reports.push(JSON.parse(line) as ClientReport);
        this.#reportEvents.emit("report");
      });
    }
    child.once("close", () => this.#reportEvents.emit("report"));
  }

  static async start(home: UpgradeHome, name: string): Promise<{ client: LibraryClient; lease: ClientLease }> {
    const file = join(home.project, "client.mjs");
    writeFileSync(file, SOURCE);
    const options = { cwd: home.project, env: home.env, stdio: ["pipe", "pipe", "pipe"] as ["pipe", "pipe", "pipe"] };
    const client = new LibraryClient(spawn(process.execPath, [file, name], options));
    const { run, generation, token, pid } = await client.until("lease");
    return { client, lease: { run, generation, token, pid } as ClientLease };
  }

  order(order: Order): void {
    this.child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** Waits for a report of this kind, and about this message where an id is given. */
  until(kind: ClientReport["kind"], id?: string): Promise<ClientReport> {
    const what = `the client to say ${kind} ${id ?? ""}`;
    return within(what, this.#until(kind, id), 20_000).catch((error: unknown) => {
      throw new Error(`${String(error)}; it said ${JSON.stringify(this.reports)} ${this.#errors}`, { cause: error });
    });
  }

  async kill(): Promise<void> {
    const closed = once(this.child, "close");
    this.child.kill("SIGKILL");
    await closed;
  }

  async #until(kind: ClientReport["kind"], id: string | undefined): Promise<ClientReport> {
    for (;;) {
      const found = this.reports.find((each) => each.kind === kind && (id === undefined || each.id === id));
      if (found) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error("the client has ended");
      await once(this.#reportEvents, "report");
    }
  }
}
