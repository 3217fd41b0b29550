import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach } from "vitest";
import { connect, type Client } from "../../../src/client/connect.ts";
import { claim } from "../../../src/client/claim.ts";
import type { CallParams, CallResults } from "../../../src/protocol/calls/index.ts";
import type { ClaimGrant } from "../../../src/protocol/records/launch.ts";
import type { MailStep, MessageRecord } from "../../../src/protocol/records/mail.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { letter, placeIn } from "../../campaigns/support/mail.ts";
import { eventually } from "../../campaigns/support/check.ts";
import { finish, Home, type Finished } from "../../support/home.ts";

/** Homes with such workers in them, which never ran for long; cleared after every test. */
export function offices(): (...names: string[]) => Promise<Office> {
  const open: Office[] = [];
  afterEach(async () => {
    for (const office of open.splice(0)) await office.close();
  });
  return async (...names) => {
    const office = new Office();
    open.push(office);
    await office.workers(...names);
    return office;
  };
}

export type Sent = Partial<CallParams<"send">>;

export class Office {
  readonly home = new Home();
  readonly here = placeIn(this.home);
  readonly #clients: Client[] = [];

  /** Workers that have been started once, and stopped. */
  async workers(...names: string[]): Promise<void> {
    for (const name of names) await this.home.perdure(["run", name, "--", "true"]);
  }

  async client(): Promise<Client> {
    const client = await connect({ env: this.home.env });
    this.#clients.push(client);
    return client;
  }

  /** A live run of a worker, held by this process. */
  async lease(name: string): Promise<{ client: Client; grant: ClaimGrant; as: NonNullable<CallParams<"send">["as"]> }> {
    const client = await this.client();
    const target = { project: null, name, here: this.here };
    const request = { target, kind: "client" as const, pid: process.pid, command: null, cwd: null, environment: {} };
    const grant = await claim(async () => client, { ...request, ephemeral: false, vendor: null, fresh: false });
    const { run, generation, token } = grant;
    return { client, grant, as: { run, generation, token } };
  }

  params(to: string, body: string, more: Sent = {}): CallParams<"send"> {
    return letter(this.home, to, body, more);
  }

  /** As the operator, unless told. */
  async send(to: string, body: string, more: Sent = {}): Promise<CallResults["send"]["messages"][number]> {
    const client = await this.client();
    const { messages } = await client.call("send", this.params(to, body, more));
    const [only] = messages;
    if (!only) throw new Error("nothing was sent");
    return only;
  }

  /** What is in a box, without taking it. */
  async peek(name: string): Promise<MessageRecord[]> {
    return (await this.home.json<{ messages: MessageRecord[] }>(["inbox", name])).messages;
  }

  async trail(id: string): Promise<MailStep[]> {
    return (await this.home.json<{ steps: MailStep[] }>(["mail", id])).steps;
  }

  async until(id: string, state: string): Promise<void> {
    await eventually(`${id} to be ${state}`, async () => (await this.trail(id)).at(-1)?.state === state);
  }

  /** A command inside a run of the worker: it acts as that worker. */
  async inside(name: string, script: string): Promise<Finished> {
    const child = this.home.spawn(["run", name, "--", "sh", "-c", script], { stdio: ["ignore", "pipe", "pipe"] });
    return finish(child);
  }

  /** The command line as a shell inside a run calls it. */
  get perdure(): string {
    return join(import.meta.dirname, "../../../bin/perdure.js");
  }

  async killDaemon(): Promise<void> {
    const pid = this.home.daemonPid();
    if (pid === null) return;
    process.kill(pid, "SIGKILL");
    await eventually("the daemon's end", () => processTable().look(pid) === null);
  }

  /** With no daemon there. */
  async change(sql: string): Promise<void> {
    await this.home.perdure(["daemon", "stop"]);
    const database = new DatabaseSync(join(this.home.state, "perdure.db"));
    database.exec(sql);
    database.close();
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.home.clear();
  }
}
