import type { Sign } from "../../protocol/records/conversation.ts";
import { walkToAgent } from "../../launch/nesting.ts";
import { isAlive, type ProcessInfo } from "../../runtime/process/index.ts";
import type { Run } from "../../store/runs.ts";
import type { Conversation } from "../../store/conversations.ts";
import type { Adapter, ProcessView } from "../../vendors/index.ts";
import type { ConversationServices } from "./services.ts";
import { identityOf } from "../runs/identity.ts";

/** What all runs of a vendor's folder share. */
export interface SignSources {
  /** Whether a change there is told. */
  isWatched: () => boolean;
  recentProcesses: ProcessView;
}

/** The run's own agent process, which may outlive the wrapper; a nested one is never asked. */
export class AgentProcessWatch {
  readonly #services: ConversationServices;
  readonly #adapter: Adapter;
  /** Once it has shown a sign. */
  found: ProcessInfo | null = null;

  constructor(services: ConversationServices, adapter: Adapter) {
    this.#services = services;
    this.#adapter = adapter;
  }

  signs(run: Run, { configDir }: Conversation): Sign[] {
    const { processes, runs: watch } = this.#services;
    if (this.found && isAlive(processes, this.found))
      return this.#adapter.liveness.inspect(configDir, this.found.pid, processes);
    let signs: Sign[] = [];
    const found = (pid: number): boolean => {
      const shown = signs.length > 0 ? [] : this.#adapter.liveness.inspect(configDir, pid, processes);
      if (shown.length === 0) return false;
      signs = shown;
      this.found = processes.inspect(pid);
      return true;
    };
    if (isAlive(processes, identityOf(run))) walkToAgent(processes, run.pid, found);
    else if (this.found === null) watch.allProcessesOf(run).some(({ pid }) => found(pid));
    return signs;
  }

  /** What it has left behind. */
  leftovers({ configDir }: Conversation): Sign[] {
    return this.found ? (this.#adapter.liveness.leftovers?.(configDir, this.found) ?? []) : [];
  }
}
