import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { isAlive, processTable, type ProcessId } from "../../../src/runtime/process/index.ts";
import { signalRunProcess } from "../../../src/runtime/process/signal.ts";
import { seeded } from "../../support/campaign.ts";
import { check, pick } from "../../support/check.ts";

// Runs inside a pid namespace of its own. A process of a run dies, a stranger gets its pid, and we still have the old
// identity in hand: whatever we send then must reach nobody.

const table = processTable();
/** The state folder of this campaign; a stranger may carry the same run id of another one. */
const SOCKET = "/campaign/perdure.sock";
const PROGRAM = ["sleep", "1000"] as const;
const SIGNALS = ["SIGTERM", "SIGKILL", "SIGCONT", "SIGSTOP", "SIGHUP"] as const;

/** Environments that a stranger may have: nothing, another run, and things that only look like ours. */
const STRANGERS: readonly ((run: string) => Record<string, string>)[] = [
  () => ({}),
  (run) => ({ PERDURE_RUN: run }),
  (run) => ({ PERDURE_RUN: run, PERDURE_SOCKET: "/other/perdure.sock" }),
  (run) => ({ PERDURE_RUN: `${run}0` }),
  (run) => ({ PERDURE_RUN: run.slice(0, -1) }),
  (run) => ({ PERDURE_RUN: "", XPERDURE_RUN: run }),
  (run) => ({ NOTE: `PERDURE_RUN=${run}` }),
  (run) => ({ PERDURE_RUN_OLD: run, PERDURE_NAME: "coder" }),
];

const rounds = Number(process.argv[2]);
const random = seeded(Number(process.argv[3]));
const tally = { rounds, reused: 0, sameStartTick: 0, ownSignalled: 0, signalsSent: 0 };
for (let round = 0; round < rounds; round++) await playRound(`vm.api.coder.${1_800_000_000 + round}`);
check(tally.reused > rounds / 2, `only ${tally.reused} pids of ${rounds} were reused`);
process.stdout.write(JSON.stringify(tally));

async function playRound(run: string): Promise<void> {
  const own = start({ PERDURE_RUN: run, PERDURE_SOCKET: SOCKET });
  const mark = { run, socket: SOCKET };
  const identity = identityOf(own);
  // Ours, while it lives, does get its signal: otherwise a function that never sends would pass.
  if (signalRunProcess(table, identity, mark, "SIGKILL")) tally.ownSignalled++;
  await once(own, "exit");
  check(own.signalCode === "SIGKILL", "our own process did not get its signal");
  check(!signalRunProcess(table, identity, mark, "SIGKILL"), "a signal went to a pid that nobody has");

  writeFileSync("/proc/sys/kernel/ns_last_pid", String(identity.pid - 1));
  const stranger = start(pick(random, STRANGERS)(run));
  if (stranger.pid === identity.pid) tally.reused++;
  if (isAlive(table, identity)) tally.sameStartTick++;
  for (const signal of SIGNALS) {
    if (signalRunProcess(table, identity, mark, signal)) tally.signalsSent++;
  }
  check(tally.signalsSent === 0, `a stranger with pid ${stranger.pid} was signalled in the name of ${run}`);
  check(table.inspect(stranger.pid ?? 0)?.suspended === false, "the stranger was stopped");
  await endStranger(stranger);
}

/** Ends a stranger by a signal that was never tried before: if it died of another one, that one was ours. */
async function endStranger(stranger: ChildProcess): Promise<void> {
  const gone = once(stranger, "exit");
  stranger.kill("SIGINT");
  await gone;
  check(stranger.signalCode === "SIGINT", `the stranger died of ${stranger.signalCode}`);
}

function start(env: Record<string, string>): ChildProcess {
  return spawn(PROGRAM[0], PROGRAM.slice(1), { env: { PATH: "/usr/bin:/bin", ...env }, stdio: "ignore" });
}

function identityOf(child: ChildProcess): ProcessId {
  const info = table.inspect(child.pid ?? 0);
  check(info !== null, "our own process is not there");
  return { pid: info.pid, startedAt: info.startedAt, bootId: info.bootId, namespace: info.namespace };
}
