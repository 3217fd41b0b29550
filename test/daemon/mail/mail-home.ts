import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach } from "vitest";
import { connectToDaemon, type Client } from "../../../src/client/connect.ts";
import { claimWithRetry } from "../../../src/client/claim.ts";
import type { CallParams, CallResults } from "../../../src/protocol/calls/index.ts";
import type { ClaimGrant } from "../../../src/protocol/records/launch.ts";
import type { MailStep, MessageRecord } from "../../../src/protocol/records/mail.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { sendParams, projectRefOf } from "../../support/send-params.ts";
import { eventually } from "../../support/check.ts";
import { finish, Home, type Finished } from "../../support/home.ts";

/** Returns a function that makes a home with stopped workers of these names; the homes are cleared after every test. */
export function mailHomes(): (...names: string[]) => Promise<MailHome> {
  const open: MailHome[] = [];
  afterEach(async () => {
    for (const mailHome of open.splice(0)) await mailHome.close();
  });
  return async (...names) => {
    const mailHome = new MailHome();
    open.push(mailHome);
    await mailHome.workers(...names);
    return mailHome;
  };
}

export type SendOptions = Partial<CallParams<"send">>;

/** A home for tests of mail: its workers, its clients, and what is in its boxes. */
export class MailHome {
  readonly home = new Home();
  readonly here = projectRefOf(this.home);
  readonly #clients: Client[] = [];

  /** Makes workers that have been started once, and stopped. */
  async workers(...names: string[]): Promise<void> {
    for (const name of names) await this.home.perdure(["run", name, "--", "true"]);
  }

  async client(): Promise<Client> {
    const client = await connectToDaemon({ env: this.home.env });
    this.#clients.push(client);
    return client;
  }

  /** Claims a worker's name: a live run, held by this process. */
  async lease(name: string): Promise<{ client: Client; grant: ClaimGrant; as: NonNullable<CallParams<"send">["as"]> }> {
    const client = await this.client();
    const target = { project: null, name, here: this.here };
    const request = { target, kind: "client" as const, pid: process.pid, command: null, cwd: null, environment: {} };
    const grant = await claimWithRetry(async () => client, {
      ...request,
      ephemeral: false,
      vendor: null,
      fresh: false,
    });
    const { run, generation, token } = grant;
    return { client, grant, as: { run, generation, token } };
  }

  params(to: string, body: string, more: SendOptions = {}): CallParams<"send"> {
    return sendParams(this.home, to, body, more);
  }

  /** Sends one message, as the operator unless `more.as` says otherwise. */
  async send(to: string, body: string, more: SendOptions = {}): Promise<CallResults["send"]["messages"][number]> {
    const client = await this.client();
    const { messages } = await client.call("send", this.params(to, body, more));
    const [only] = messages;
    if (!only) throw new Error("nothing was sent");
    return only;
  }

  /** The messages in a box, without taking them. */
  async peek(name: string): Promise<MessageRecord[]> {
    return (await this.home.json<{ messages: MessageRecord[] }>(["inbox", name])).messages;
  }

  async stepsOf(id: string): Promise<MailStep[]> {
    return (await this.home.json<{ steps: MailStep[] }>(["mail", id])).steps;
  }

  async until(id: string, state: string): Promise<void> {
    await eventually(`${id} to be ${state}`, async () => (await this.stepsOf(id)).at(-1)?.state === state);
  }

  /** Runs a shell script inside a run of the worker, so that it acts as that worker. */
  async runInside(name: string, script: string): Promise<Finished> {
    const child = this.home.spawn(["run", name, "--", "sh", "-c", script], { stdio: ["ignore", "pipe", "pipe"] });
    return finish(child);
  }

  /** The path of the command line, for scripts inside a run. */
  get perdure(): string {
    return join(import.meta.dirname, "../../../bin/perdure.js");
  }

  async killDaemon(): Promise<void> {
    const pid = this.home.daemonPid();
    if (pid === null) return;
    process.kill(pid, "SIGKILL");
    await eventually("the daemon's end", () => processTable().inspect(pid) === null);
  }

  /** Stops the daemon and changes the store by SQL. */
  async changeStore(sql: string): Promise<void> {
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
