import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MailStep, MessageRecord } from "../../src/protocol/records/mail.ts";
import type { History } from "../../src/protocol/records/run.ts";
import { eventually } from "./check.ts";
import { FleetHome } from "./fleet-home.ts";
import type { Finished } from "./home.ts";

/** A home whose workers have no process between messages. The built-in agent does what words in its mail say: `[[sleep 500]]`. */
export class TurnHome extends FleetHome {
  #gates = 0;

  constructor(workers: string, env: Record<string, string> = {}) {
    super(`[defaults]\nvendor = "scripted"\nmode = "turn"\nargs = ["--script", "obeys-mail"]\n${workers}`, env);
  }

  /** An order at which a turn goes on until `open` is called. */
  gate(): { hold: string; open: () => void } {
    const file = join(this.dir, `gate-${++this.#gates}`);
    return { hold: `[[hold ${file}]]`, open: () => writeFileSync(file, "") };
  }

  ask(name: string, text: string, ...args: string[]): Promise<Finished> {
    return this.perdure(["ask", name, text, ...args]);
  }

  /** Returns what the agent of a worker has been told, turn by turn, as its transcript has it. */
  async told(name: string): Promise<string[]> {
    const lines = (await this.transcript(name)).split("\n").filter(Boolean);
    const turns = lines.map((line) => JSON.parse(line) as { type: string; text?: string });
    return turns.flatMap(({ type, text = "" }) => (type === "user" ? [text] : []));
  }

  async message(id: string): Promise<{ message: MessageRecord; steps: MailStep[]; reply: MessageRecord | null }> {
    return this.json(["mail", id]);
  }

  async stateOf(id: string): Promise<string> {
    return (await this.message(id)).message.state;
  }

  async untilState(id: string, ...states: string[]): Promise<void> {
    await eventually(`${id} to be ${states.join(" or ")}`, async () => states.includes(await this.stateOf(id)));
  }

  async history(name: string): Promise<History> {
    return this.json(["history", name]);
  }

  /** Waits until a turn of the worker goes on whose agent is there. */
  async untilTurning(name: string): Promise<string> {
    const { run } = await this.until(name, ({ state, session }) => state === "turning" && session?.proved === true);
    return run?.id ?? "";
  }

  async untilAsleep(name: string): Promise<void> {
    await this.until(name, ({ state }) => state === "asleep");
  }

  /** Kills the daemon; the next command starts another one. */
  async killDaemon(): Promise<void> {
    const pid = this.daemonPid();
    if (pid === null) throw new Error("no daemon runs");
    process.kill(pid, "SIGKILL");
    await eventually("the daemon to be gone", () => !isAlive(pid));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
