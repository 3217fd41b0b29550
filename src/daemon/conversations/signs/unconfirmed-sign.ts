import { awaitsConfirmation } from "../../../core/proof.ts";
import { MISMATCH_CONFIRM_MS } from "../../../limits/index.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";
import { lastEntryOfRun } from "../../../store/conversations.ts";
import type { Run } from "../../../store/runs.ts";
import type { BaseServices } from "../../base-services.ts";
import { provedOf } from "../binding/bindings.ts";

/** Remembers a sign that another conversation is open, before any sign of the right one, which the agent may still be about to open. */
export class UnconfirmedSign {
  readonly #services: Pick<BaseServices, "db" | "monotonicMs">;
  readonly #run: string;
  readonly #adopted: boolean;
  #seen: { sign: Sign; sinceMs: number } | null = null;

  constructor(services: Pick<BaseServices, "db" | "monotonicMs">, { id }: Run, adopted: boolean) {
    this.#services = services;
    this.#run = id;
    this.#adopted = adopted;
  }

  get isSeen(): boolean {
    return this.#seen !== null;
  }

  /** The sign that is unconfirmed when the run ends: the run never reached the right conversation. */
  get atEnd(): Sign | null {
    return this.#adopted ? null : (this.#seen?.sign ?? null);
  }

  clear(): void {
    this.#seen = null;
  }

  /** Remembers since when the sign waits for its confirmation, and tells whether it still does. */
  awaitsConfirmation(sign: Sign): boolean {
    const entry = lastEntryOfRun(this.#services.db, this.#run);
    const proved = entry ? provedOf(entry) : "pending";
    const now = this.#services.monotonicMs();
    if (proved === "pending" && this.#seen?.sign.session !== sign.session) this.#seen = { sign, sinceMs: now };
    const rules = { adopted: this.#adopted, confirmMs: MISMATCH_CONFIRM_MS };
    return awaitsConfirmation(proved, this.#seen?.sinceMs ?? now, now, rules);
  }
}
