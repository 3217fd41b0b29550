import { getHeapStatistics } from "node:v8";
import {
  IDLE_CPU_SHARE,
  IDLE_HEAP_GROWTH_BYTES,
  IDLE_MEMORY_CHECK_MS,
  WORKED_COLLECTIONS,
  WORKED_CPU_MS,
  WORKED_HEAP_GROWTH_BYTES,
} from "../../limits/index.ts";

/** The part of the process that is looked at, and its collector; null without one. */
export interface OwnMemory {
  cpuMicros(): number;
  heapBytes(): number;
  readonly collect: (() => void) | null;
}

interface Collection {
  /** The processor time that was used in all, and by the collection alone. */
  cpuMicros: number;
  costMicros: number;
  /** The size of the heap after it. */
  heapBytes: number;
}

/**
 * Gives memory back to the system when the daemon has nothing to do: soon after the start, whose garbage would else stay for
 * ever, and after a burst of calls. V8 by itself collects when it needs room, and an idle daemon never does.
 */
export class IdleMemory {
  readonly #memory: OwnMemory;
  #timer: NodeJS.Timeout | null = null;
  #cpuMicros = 0;
  /** The last collection; null before the first one. */
  #collected: Collection | null = null;

  constructor(memory: OwnMemory = ownMemory()) {
    this.#memory = memory;
  }

  start(): void {
    if (this.#memory.collect === null) return;
    this.#timer = setInterval(() => this.check(), IDLE_MEMORY_CHECK_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Looks once, `IDLE_MEMORY_CHECK_MS` after the last time. */
  check(): void {
    const cpuMicros = this.#memory.cpuMicros();
    const isBusy = cpuMicros - this.#cpuMicros > IDLE_CPU_SHARE * IDLE_MEMORY_CHECK_MS * 1000;
    this.#cpuMicros = cpuMicros;
    // It stops the daemon for some time, which a call that comes right after the start would wait for.
    if (isBusy || (this.#collected !== null && !this.#hasGrown(cpuMicros, this.#collected))) return;
    this.#memory.collect?.();
    const now = this.#memory.cpuMicros();
    this.#collected = { cpuMicros: now, costMicros: now - cpuMicros, heapBytes: this.#memory.heapBytes() };
  }

  /** On a busy machine no second may look busy that was: so work is what was used in all since the last collection. */
  #hasGrown(nowMicros: number, { cpuMicros, costMicros, heapBytes }: Collection): boolean {
    const hasWorked = nowMicros - cpuMicros > Math.max(WORKED_CPU_MS * 1000, WORKED_COLLECTIONS * costMicros);
    const growth = hasWorked ? WORKED_HEAP_GROWTH_BYTES : IDLE_HEAP_GROWTH_BYTES;
    return this.#memory.heapBytes() >= heapBytes + growth;
  }
}

function ownMemory(): OwnMemory {
  const { gc } = globalThis;
  return {
    cpuMicros: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    // `process.memoryUsage()` opens a file for its other figures, and throws while clients have taken all descriptors.
    heapBytes: () => getHeapStatistics().total_heap_size,
    collect: gc === undefined ? null : () => gc({ type: "major", execution: "sync", flavor: "last-resort" }),
  };
}
