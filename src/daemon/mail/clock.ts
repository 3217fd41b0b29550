import { uptime } from "node:os";
import { UPTIME_STEP_MS } from "../../limits/index.ts";
import { readMeta, writeMeta } from "../../store/meta.ts";
import type { BaseServices } from "../base-services.ts";

type ClockServices = Pick<BaseServices, "db" | "writer" | "now" | "monotonicMs"> & {
  processes: Pick<BaseServices["processes"], "bootId">;
};

/**
 * The clock by which mail expires: the wall time at which the first daemon of this boot began, plus the uptime since then,
 * which does not jump and counts sleep, too. Setting the wall clock, even between two daemons, expires nothing.
 */
export class MailClock {
  readonly #clocks: ClockServices;
  readonly #readUptimeMs: () => number;
  readonly #baseMs: number;
  #uptimeMs: number;
  #readAtMs: number;

  constructor(clocks: ClockServices, readUptimeMs: () => number = () => uptime() * 1000) {
    this.#clocks = clocks;
    this.#readUptimeMs = readUptimeMs;
    this.#uptimeMs = readUptimeMs();
    this.#readAtMs = clocks.monotonicMs();
    this.#baseMs = this.#stored() ?? Math.round(clocks.now() - this.#uptimeMs);
  }

  now(): number {
    const monotonicMs = this.#clocks.monotonicMs();
    if (monotonicMs - this.#readAtMs >= UPTIME_STEP_MS) {
      this.#uptimeMs = this.#readUptimeMs();
      this.#readAtMs = monotonicMs;
    }
    return Math.round(this.#baseMs + this.#uptimeMs);
  }

  /** Stores the base of the clock for the next daemon of this boot. */
  async persist(): Promise<void> {
    if (this.#stored() !== null) return;
    const { db, writer, processes } = this.#clocks;
    await writer.write(() => writeMeta(db, "mail_clock", `${this.#baseMs} ${processes.bootId()}`));
  }

  #stored(): number | null {
    const [base = "", boot] = (readMeta(this.#clocks.db, "mail_clock") ?? "").split(" ");
    return boot === this.#clocks.processes.bootId() ? Number(base) : null;
  }
}
