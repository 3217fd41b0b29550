import { FOREIGN_OPENER_POLL_MS } from "../../../limits/index.ts";
import type { ProcessInfo } from "../../../runtime/process/index.ts";
import type { Run } from "../../../store/runs.ts";
import type { Conversation } from "../../../store/conversations.ts";
import type { Adapter, ProcessView } from "../../../vendors/index.ts";
import { publishRunEvent } from "../../events.ts";
import { chainOf } from "../../runs/elsewhere.ts";
import type { ConversationServices } from "../services.ts";
import { locationOf } from "../probe/probe.ts";

/** Finds foreign processes that have opened a run's conversation, which are flagged because the vendor does not refuse them. */
export class ForeignOpeners {
  readonly #services: ConversationServices;
  readonly #adapter: Adapter;
  readonly #recentProcesses: ProcessView;
  #polledAtMs = Number.NEGATIVE_INFINITY;
  #suspects: number[] = [];

  pids: number[] = [];
  /** A foreign process has had the conversation open during the run: not all that was written there is the run's own. */
  hadForeignOpener = false;

  constructor(services: ConversationServices, adapter: Adapter, recent: ProcessView) {
    this.#recentProcesses = recent;
    this.#services = services;
    this.#adapter = adapter;
  }

  /** Makes the next poll check at once, because a new process has appeared. */
  checkNow(): void {
    this.#polledAtMs = Number.NEGATIVE_INFINITY;
  }

  get hasSuspects(): boolean {
    return this.#suspects.length > 0;
  }

  async poll(run: Run, conversation: Conversation | null, agent: ProcessInfo | null): Promise<void> {
    const now = this.#services.monotonicMs();
    if (!conversation || now - this.#polledAtMs < FOREIGN_OPENER_POLL_MS) return;
    this.#polledAtMs = now;
    const own = agent ? [agent.pid] : chainOf(this.#services.processes, run);
    // Before the run's own agent is known, it would be taken for a foreign process.
    if (own.length === 0) return;
    // A suspect is checked against the live process table, not the cached one.
    const view = this.#suspects.length > 0 ? this.#services.processes : this.#recentProcesses;
    const holders = await this.#adapter.liveness.holders(locationOf(conversation), view);
    const others = holders.map(({ pid }) => pid).filter((pid) => !own.includes(pid));
    // Only a process that is seen twice counts: between fork and exec a child has its parent's files open.
    const confirmed = others.filter((pid) => this.#suspects.includes(pid));
    if (others.length > confirmed.length) this.checkNow();
    const newPids = confirmed.filter((pid) => !this.pids.includes(pid));
    this.#suspects = others;
    this.pids = confirmed;
    this.hadForeignOpener ||= confirmed.length > 0;
    if (newPids.length === 0) return;
    await publishRunEvent(this.#services, run, "session.opened-elsewhere", {
      session: conversation.vendorId,
      pids: newPids,
    });
  }
}
