import { isOpen } from "../../../core/proof.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";
import { isAlive, type ProcessInfo, type ProcessTable } from "../../../runtime/process/index.ts";

/**
 * Remembers the agent's process that was last seen in the run's conversation. A program in front may start another one when that has
 * ended: what that opens is no change of conversation, because nobody has left the first. Remembers, too, where the process has shown
 * that conversation, because only some of its signs tell.
 */
export class OwnProcess {
  readonly #processes: ProcessTable;
  /** The process, and what is known of it; null if it had ended before anybody looked. */
  #last: { pid: number; info: ProcessInfo | null } | null = null;

  #place: { session: string; place: string } | null = null;

  constructor(processes: ProcessTable) {
    this.#processes = processes;
  }

  /** Adds to a sign whether it is of a later process. `session` is the conversation that the run is in. */
  attributed(sign: Sign, session: string): Sign {
    const { process: pid } = sign;
    if (pid === undefined || !isOpen(sign)) return sign;
    if (sign.session === session) {
      if (this.#last?.pid !== pid) this.#last = { pid, info: this.#processes.inspect(pid) };
      return sign;
    }
    return this.#last !== null && this.#last.pid !== pid && !this.#lives() ? { ...sign, isSuccessors: true } : sign;
  }

  /** Adds to a sign that does not tell its place the one that the process has shown before. */
  placed(sign: Sign): Sign {
    if (sign.place !== undefined) this.#place = { session: sign.session, place: sign.place };
    const isPlaced = sign.transcript !== undefined || this.#place?.session !== sign.session;
    return isPlaced ? sign : { ...sign, place: this.#place?.place };
  }

  #lives(): boolean {
    const info = this.#last?.info ?? null;
    return info !== null && isAlive(this.#processes, info);
  }
}
