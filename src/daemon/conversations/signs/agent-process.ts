import type { Sign } from "../../../protocol/records/conversation.ts";
import { walkToAgent } from "../../../launch/nesting.ts";
import { isAlive, type ProcessInfo } from "../../../runtime/process/index.ts";
import type { Run } from "../../../store/runs.ts";
import type { Conversation } from "../../../store/conversations.ts";
import type { Adapter, ProcessView } from "../../../vendors/index.ts";
import { identityOf } from "../../runs/identity.ts";
import type { ConversationServices } from "../services.ts";

/** Sources of signs that all runs of a vendor's folder share. */
export interface SignSources {
  /** Tells whether the vendor's folder is watched, so that a change in it is noticed at once. */
  isWatched: () => boolean;
  recentProcesses: ProcessView;
}

/** Finds the run's own agent process, which may outlive the wrapper, and reads its signs; nested agents are ignored. */
export class AgentProcessWatch {
  readonly #services: ConversationServices;
  readonly #adapter: Adapter;
  /** The agent's process, once it has shown a sign. */
  found: ProcessInfo | null = null;

  constructor(services: ConversationServices, adapter: Adapter) {
    this.#services = services;
    this.#adapter = adapter;
  }

  signs(run: Run, conversation: Conversation): Sign[] {
    return this.#shown(run, conversation).map((sign) => ({ ...sign, process: this.found?.pid }));
  }

  #shown(run: Run, { configDir }: Conversation): Sign[] {
    const { processes, runs } = this.#services;
    if (this.found && isAlive(processes, this.found))
      return this.#adapter.liveness.inspect(configDir, this.found.pid, processes);
    let signs: Sign[] = [];
    const isAgent = (pid: number): boolean => {
      const found = signs.length > 0 ? [] : this.#adapter.liveness.inspect(configDir, pid, processes);
      if (found.length === 0) return false;
      signs = found;
      this.found = processes.inspect(pid);
      return true;
    };
    if (isAlive(processes, identityOf(run))) walkToAgent(processes, run.pid, isAgent);
    else if (this.found === null) runs.survivorsOf(run).some(({ pid }) => isAgent(pid));
    return signs;
  }

  /** Returns the signs that an ended agent has left on disk. */
  leftovers({ configDir }: Conversation): Sign[] {
    const { found } = this;
    const left = found ? (this.#adapter.liveness.leftovers?.(configDir, found) ?? []) : [];
    return left.map((sign) => ({ ...sign, process: found?.pid }));
  }
}
