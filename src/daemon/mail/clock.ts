import { uptime } from "node:os";
import { UPTIME_STEP_MS } from "../../limits/index.ts";
import { readMeta, writeMeta } from "../../store/meta.ts";
import type { BaseServices } from "../base-services.ts";

type ClockServices = Pick<BaseServices, "db" | "writer" | "now" | "monotonicMs"> & {
  processes: Pick<BaseServices["processes"], "bootId">;
};

/**
 * The time by which mail lives and dies: the wall's when the first daemon of this boot began, and from there on by the machine's
 * uptime, which does not jump and counts sleep, too. A wall clock that is set, even between two daemons, expires nothing.
 */
export class MailClock {
  readonly #clocks: ClockServices;
  readonly #readUptimeMs: () => number;
  readonly #baseMs: number;
  #uptimeMs: number;
  #lookedMs: number;

  constructor(clocks: ClockServices, readUptimeMs: () => number = () => uptime() * 1000) {
    this.#clocks = clocks;
    this.#readUptimeMs = readUptimeMs;
    this.#uptimeMs = readUptimeMs();
    this.#lookedMs = clocks.monotonicMs();
    this.#baseMs = this.#kept() ?? Math.round(clocks.now() - this.#uptimeMs);
  }

  now(): number {
    const monotonicMs = this.#clocks.monotonicMs();
    if (monotonicMs - this.#lookedMs >= UPTIME_STEP_MS) {
      this.#uptimeMs = this.#readUptimeMs();
      this.#lookedMs = monotonicMs;
    }
    return Math.round(this.#baseMs + this.#uptimeMs);
  }

  /** For the next daemon of this boot. */
  async keep(): Promise<void> {
    if (this.#kept() !== null) return;
    const { db, writer, processes } = this.#clocks;
    await writer.write(() => writeMeta(db, "mail_clock", `${this.#baseMs} ${processes.bootId()}`));
  }

  #kept(): number | null {
    const [base = "", boot] = (readMeta(this.#clocks.db, "mail_clock") ?? "").split(" ");
    return boot === this.#clocks.processes.bootId() ? Number(base) : null;
  }
}
