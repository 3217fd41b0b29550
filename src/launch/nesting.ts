import { agentOf, type AgentProcess } from "../vendors/agents.ts";
import type { ProcessTable } from "../runtime/process/index.ts";

const DEPTH_MAX = 64;
/** Processes looked at on the way from a wrapper down to its agent; an agent's own are not counted. */
const WALK_MAX = 256;

/**
 * Is the caller inside an agent that a run's own agent started? Seen from the run's wrapper downwards, the first agent
 * process, with the loaded ones directly below it, is the run's own. If another agent stands between that and the caller,
 * the caller is a nested agent: it inherited the environment, not the identity.
 */
export function isNested(table: ProcessTable, callerPid: number, run: string): boolean {
  const line = agentsAbove(table, callerPid, run);
  const first = line.findIndex((agent) => agent !== null);
  if (first < 0) return false;
  let end = first + 1;
  while (isLoadedBy(line[end] ?? null, line[end - 1] ?? null, end - first)) end++;
  return line.slice(end).some((agent) => agent !== null);
}

/** From the topmost process that still carries the run down to the caller: which agent each one is. */
function agentsAbove(table: ProcessTable, callerPid: number, run: string): (AgentProcess | null)[] {
  const line: (AgentProcess | null)[] = [];
  let pid = callerPid;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const info = table.inspect(pid);
    if (info === null || table.variable(pid, "PERDURE_RUN") !== run) break;
    line.unshift(agentOf(table.argv(pid)));
    pid = info.parentPid;
  }
  return line;
}

function isLoadedBy(agent: AgentProcess | null, loader: AgentProcess | null, depth: number): boolean {
  if (agent === null || loader === null || agent.program !== loader.program) return false;
  return loader.interpreted && depth < loader.program.chain;
}

/** The processes of a run's own agent: the vendor's program, with what it loads. */
export function agentChain(table: ProcessTable, wrapperPid: number): number[] {
  const chain: number[] = [];
  walkToAgent(table, wrapperPid, (pid) => {
    if (agentOf(table.argv(pid)) !== null) chain.push(pid);
    return false;
  });
  return chain;
}

/**
 * Goes down from a run's wrapper, through shells and launchers, until `found` is content with a process; never below an
 * agent and what it loads, because whatever is there is nested.
 */
export function walkToAgent(table: ProcessTable, wrapperPid: number, visit: (pid: number) => boolean): void {
  const queue: { pid: number; agent: AgentProcess | null; depth: number }[] = [
    { pid: wrapperPid, agent: null, depth: 0 },
  ];
  for (let visited = 0; visited < WALK_MAX; visited++) {
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
