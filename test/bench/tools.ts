import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_MEMORY_CHECK_MS } from "../../src/limits/index.ts";
import { lastingRun, McpAgent } from "../daemon/mcp/agent.ts";
import type { Home } from "../support/home.ts";
import { bareDaemon, bareNodes, memory, memoryRow, PER_WORKER_GOAL, withLeastDaemon } from "./memory.ts";
import type { Row } from "./report.ts";

const WORKERS = 20;
const REST_MS = 15 * IDLE_MEMORY_CHECK_MS;

/** All that stays beside running programs that have connected our tools and used them: wrappers, bridges, and the daemon. */
export async function connectedTools(home: Home): Promise<Row[]> {
  const agents: McpAgent[] = [];
  for (let number = 1; number <= WORKERS; number++) {
    agents.push(await McpAgent.start(home, await lastingRun(home, `tools-${number}`)));
  }
  for (const agent of agents) {
    await agent.client.listTools();
    await agent.result("list");
    await agent.result("send", { to: "tools-1", text: "hello" });
  }
  const wrappers = agents
    .flatMap(({ grant }) => home.processesOf(grant.run))
    .filter(({ command }) => command !== "sleep")
    .map(({ pid }) => pid);
  const bridges = agents.map(({ bridgePid }) => bridgePid);
  // The garbage of the calls is given back, and what polls leave behind has reached its level.
  await sleep(REST_MS);
  const each = pss([...wrappers, ...bridges]) / WORKERS;
  const daemon = memory(`/proc/${home.daemonPid()}/status`, "VmRSS");
  const bare = await bareNodes(home.env);
  for (const agent of agents) {
    await agent.close();
    home.killRun(agent.grant.run);
  }
  return [
    memoryRow("our memory per worker with tools (PSS)", each, bare, PER_WORKER_GOAL),
    ...withLeastDaemon(
      memoryRow(`the daemon, ${WORKERS} workers with tools, RSS`, daemon, bare, 1.6),
      await bareDaemon(home, WORKERS),
    ),
  ];
}

/** Kilobytes of processes, as the kernel shares them out. */
function pss(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + memory(`/proc/${pid}/smaps_rollup`, "Pss"), 0);
}
