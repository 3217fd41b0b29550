import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { processTable } from "../../src/runtime/process/index.ts";
import { isErrno } from "../../src/state/files.ts";
import { TAKEN_PREFIX } from "../../src/vendors/index.ts";
import { check, eventually, pick, whole } from "../support/check.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { InstalledPersona } from "../support/persona.ts";
import { projectRefOf } from "../support/send-params.ts";
import { MailLedger } from "./29-mail-ledger.ts";
import { LastingClient } from "./support/lasting-client.ts";

interface Size {
  workers: number;
  messages: number;
  kills: number;
}

/** The victims; `person` is somebody who types in a pane, so that mail comes by the hook of a prompt. */
const VICTIMS = ["worker", "daemon", "worker", "both", "person", "tmux"] as const;
type Victim = (typeof VICTIMS)[number];
/** The time from the last message to a kill: anywhere between the send and the end of the turn that it begins. */
const UNDER_WAY_MS = 900;
/** The share of kills right after the mail was handed over, when nobody knows yet whether it arrived. */
const AIMED = 0.5;
/** Workers that were killed too often stay down until somebody brings them up. */
const KILLS_PER_UP = 5;
/** An idle agent is woken half a second after its last turn. */
const HANDED_OVER_MS = 1_500;
/** A channel that failed is left alone for a minute, and then for two. */
const STALLED_MS = 300_000;

/** Sends to a fleet of claude's personas under fire, and checks that every message stands in the conversation of its reader. */
export async function playFleet(size: Size, random: () => number): Promise<Record<string, number>> {
  const fleet = new FleetHome(
    `project = "api"
[defaults]
vendor = "claude"
restart = "always"
[workers.agent]
count = ${size.workers}
about = "answers all mail"
[mail]
wakes_per_hour = 600
`,
    { PERDURE_RESTART_WAIT_MS: "100" },
  );
  const client = new LastingClient(fleet);
  try {
    return await new Play(fleet, client, random).all(size);
  } finally {
    client.close();
    await fleet.clear();
  }
}

class Play {
  readonly #fleet: FleetHome;
  readonly #persona: InstalledPersona;
  readonly #client: LastingClient;
  readonly #random: () => number;
  readonly #kills: Record<Victim, number> = { worker: 0, daemon: 0, both: 0, person: 0, tmux: 0 };

  constructor(fleet: FleetHome, client: LastingClient, random: () => number) {
    this.#fleet = fleet;
    this.#persona = new InstalledPersona(fleet, "claude");
    this.#client = client;
    this.#random = random;
  }

  async all({ messages, kills }: Size): Promise<Record<string, number>> {
    await this.#fleet.up();
    const workers = await this.#fleet.untilIdle();
    const ledger = new MailLedger(this.#fleet, this.#client, (name) => this.#transcriptsOf(name));
    const names = workers.map(({ name }) => name);
    const perKill = Math.max(1, Math.floor(messages / kills));
    for (let sent = 0; sent < messages;) {
      let name = "";
      for (let n = 0; n < perKill && sent < messages; n++, sent++) {
        name = pick(this.#random, names);
        await ledger.send(name, `message ${sent} of ${messages}`);
      }
      const isFirst = sent <= perKill;
      if (isFirst || this.#random() < AIMED) await this.#untilHandedOver(name);
      else await sleep(whole(this.#random, UNDER_WAY_MS));
      await this.#strike(isFirst ? "worker" : pick(this.#random, VICTIMS), name);
      // What counts as told is there, at any moment: else a broken rule would show at the very end only.
      await ledger.checkCounted(name);
      if ((sent / perKill) % KILLS_PER_UP < 1) await this.#fleet.perdure(["up", "--yes"]);
    }
    await this.#untilRead(workers.length);
    const told = await ledger.checkAll();
    await this.#fleet.down();
    const { worker, daemon, both, person, tmux } = this.#kills;
    return {
      workers: workers.length,
      messages,
      workerKills: worker + both,
      daemonKills: daemon + both,
      tmuxKills: tmux,
      prompts: person,
      ...told,
    };
  }

  async #transcriptsOf(name: string): Promise<string[]> {
    const { sessions } = await this.#persona.history(name);
    return sessions.flatMap(({ id }) => this.#persona.transcript(id) ?? []);
  }

  async #strike(victim: Victim, name: string): Promise<void> {
    if (victim === "worker" || victim === "both") this.#killWorker(name);
    if (victim === "daemon" || victim === "both") kill(this.#fleet.daemonPid());
    if (victim === "tmux") kill(this.#tmuxPid());
    if (victim === "person") await this.#typeIn(name);
    this.#kills[victim]++;
  }

  /** Waits until mail is on its way into the worker; not for long, for it may be down, or have all its mail. */
  async #untilHandedOver(name: string): Promise<void> {
    const receipts = `runs/*.${name}.*/${TAKEN_PREFIX}*`;
    const deadline = performance.now() + HANDED_OVER_MS;
    while (globSync(receipts, { cwd: this.#fleet.state }).length === 0 && performance.now() < deadline) await turn();
  }

  /** Whatever there is of it at that moment: wrapper, agent, hooks. */
  #killWorker(name: string): void {
    const table = processTable();
    const socket = join(this.#fleet.state, "perdure.sock");
    for (const { pid } of table.withVariable("PERDURE_NAME", name)) {
      if (table.variable(pid, "PERDURE_SOCKET") === socket) kill(pid);
    }
  }

  #tmuxPid(): number | null {
    const args = ["-S", join(this.#fleet.state, "tmux"), "display-message", "-p", "#{pid}"];
    const { status, stdout } = spawnSync("tmux", args, { encoding: "utf8" });
    return status === 0 ? Number(stdout) : null;
  }

  /** Nothing, if the worker has no pane at the moment. */
  async #typeIn(name: string): Promise<void> {
    const { socket, pane } = await this.#fleet.pane(name);
    if (pane === undefined) return;
    for (const keys of [["-l", "go on"], ["Enter"]]) {
      spawnSync("tmux", ["-S", socket, "send-keys", "-t", pane, ...keys], { stdio: "ignore" });
    }
  }

  /** Waits for as long as there is less and less of it. */
  async #untilRead(count: number): Promise<void> {
    for (let left = await this.#unread(count), before = left; left > 0; before = left) {
      await this.#fleet.perdure(["up", "--yes"]);
      const isLess = async (): Promise<boolean> => (await this.#unread(count)) < before;
      await eventually(`fewer than ${before} unread`, isLess, STALLED_MS);
      left = await this.#unread(count);
    }
  }

  async #unread(count: number): Promise<number> {
    const list = { here: projectRefOf(this.#fleet), project: null, all: false };
    const { items } = await this.#client.ask((client) => client.collect("ls", list));
    check(items.length === count, `${items.length} workers of ${count}`);
    return items.reduce((sum, { unread }) => sum + unread, 0);
  }
}

/** One that has ended by itself meanwhile is dead, too. */
function kill(pid: number | null): void {
  try {
    if (pid !== null) process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}
