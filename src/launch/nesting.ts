import { NESTING_DEPTH_MAX, NESTING_WALK_MAX } from "../limits/index.ts";
import { agentOf, isVendorService, type AgentProcess } from "../vendors/agents.ts";
import type { ProcessTable } from "../runtime/process/index.ts";

/**
 * Tells whether the caller is inside an agent that a run's own agent started. From the run's wrapper downwards, the first
 * agent process, with the loaded ones directly below it, is the run's own. If another agent stands between that and the
 * caller, the caller is a nested agent: it inherited the environment, not the identity. So is one below a vendor's background
 * service, which serves agents of other folders and projects, too.
 */
export function isNested(table: ProcessTable, callerPid: number, run: string): boolean {
  const commands = commandsAbove(table, callerPid, run);
  if (commands.some((argv) => isVendorService(argv))) return true;
  const line = commands.map((argv) => agentOf(argv));
  const first = line.findIndex((agent) => agent !== null);
  if (first < 0) return false;
  let end = first + 1;
  while (isLoadedBy(line[end] ?? null, line[end - 1] ?? null, end - first)) end++;
  return line.slice(end).some((agent) => agent !== null);
}

/**
 * Tells whether the caller is below a vendor's background service. The service inherited the run of whoever started it first, and
 * passes that on to agents of other workers, folders and projects: whose the caller is, nobody can tell.
 */
export function isBelowService(table: ProcessTable, callerPid: number, run: string): boolean {
  return commandsAbove(table, callerPid, run).some((argv) => isVendorService(argv));
}

/** Tells whether an agent, a worker's or any other, is above the process: whoever typed the command is not a person at a shell. */
export function isBelowAgent(table: ProcessTable, pid: number): boolean {
  let above = table.inspect(pid)?.parentPid ?? 0;
  for (let depth = 0; depth < NESTING_DEPTH_MAX && above > 1; depth++) {
    if (agentOf(table.argv(above)) !== null) return true;
    above = table.inspect(above)?.parentPid ?? 0;
  }
  return false;
}

/** Returns the command line of each process from the topmost one that carries the run down to the caller. */
function commandsAbove(table: ProcessTable, callerPid: number, run: string): string[][] {
  const line: string[][] = [];
  let pid = callerPid;
  for (let depth = 0; depth < NESTING_DEPTH_MAX; depth++) {
    const info = table.inspect(pid);
    if (info === null || table.variable(pid, "PERDURE_RUN") !== run) break;
    line.unshift(table.argv(pid));
    pid = info.parentPid;
  }
  return line;
}

function isLoadedBy(agent: AgentProcess | null, loader: AgentProcess | null, depth: number): boolean {
  if (agent === null || loader === null || agent.program !== loader.program) return false;
  return loader.interpreted && depth < loader.program.chain;
}

/** Returns the processes of a run's own agent: the vendor's program and those that it loads. */
export function agentChain(table: ProcessTable, wrapperPid: number): number[] {
  const chain: number[] = [];
  walkToAgent(table, wrapperPid, (pid) => {
    if (agentOf(table.argv(pid)) !== null) chain.push(pid);
    return false;
  });
  return chain;
}

/**
 * Visits the processes from a run's wrapper down, through shells and launchers. It does not go below a process for which
 * `visit` returns true, nor below an agent and the processes it loads, because everything there is nested.
 */
export function walkToAgent(table: ProcessTable, wrapperPid: number, visit: (pid: number) => boolean): void {
  const queue: { pid: number; agent: AgentProcess | null; depth: number }[] = [
    { pid: wrapperPid, agent: null, depth: 0 },
  ];
  for (let visited = 0; visited < NESTING_WALK_MAX; visited++) {
    const next = queue.shift();
    if (next === undefined) return;
    for (const pid of table.children(next.pid)) {
      const agent = agentOf(table.argv(pid));
      const depth = agent === null ? 0 : next.agent === null ? 1 : next.depth + 1;
      if (next.agent !== null && !isLoadedBy(agent, next.agent, next.depth)) continue;
      if (!visit(pid)) queue.push({ pid, agent, depth });
    }
  }
}
