import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import type { CallParams } from "../../src/protocol/calls/index.ts";
import type { ClaimGrant } from "../../src/protocol/records/launch.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { fileNameOf } from "../../src/protocol/foreign-id.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, eventually, whole, within } from "../support/check.ts";
import type { CallOrder } from "./support/caller-process.ts";
import { clientClaim, inHome, targetIn } from "../support/in-home.ts";
import { sendParams, projectRefOf } from "../support/send-params.ts";
import { CALLER, RemoteCaller } from "./support/remote-caller.ts";
import { StoreRows } from "./support/store-rows.ts";

interface Size {
  clients: number;
  runs: number;
}

/** Few rounds per name, so that no row is old enough to be cleared while it is still compared. */
const NAMES = 20;
const KILL_AFTER_MS = 600_000;

export const zombie = campaign<Size>({
  number: 6,
  promise: "a zombie cannot act",
  reduced: { clients: 40, runs: 8 },
  full: { clients: 1_000, runs: 1_000 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  const tally = { refused: 0 };
  const operator = await connectToDaemon({ env: home.env });
  const rows = new StoreRows(join(home.state, "perdure.db"));
  const client = new RemoteCaller(
    spawn(process.execPath, [CALLER], { env: home.env, stdio: ["pipe", "pipe", "inherit"] }),
  );
  const context: Context = { home, operator, rows, tally, random };
  try {
    for (let round = 0; round < size.clients; round++) await displacedClient(context, client, `c${round % NAMES}`);
    await client.exit(0);
    for (let round = 0; round < size.runs; round++) await displacedRun(context, `r${round % NAMES}`);
    rows.checkEnded();
  } finally {
    client.child.kill("SIGKILL");
    operator.close();
    rows.close();
  }
  return { zombieClients: size.clients, zombieRuns: size.runs, attemptsRefused: tally.refused, rowsChanged: 0 };
}

interface Context {
  home: Home;
  operator: Client;
  rows: StoreRows;
  tally: { refused: number };
  random: () => number;
}

/** A library client is stopped, loses its name to us, and goes on believing it has it. */
async function displacedClient(context: Context, caller: RemoteCaller, name: string): Promise<void> {
  const { home, operator, rows } = context;
  const pid = caller.child.pid ?? 0;
  const old = await caller.call("claim", clientClaim(home, name, pid));
  // On offer to it: given back by the takeover, and never again its own to acknowledge.
  const [sent] = (await operator.call("send", sendParams(home, name, "for whoever has the name"))).messages;
  await caller.call("takeMail", { ...selfOf(old), here: projectRefOf(home), project: null, max: 10, waitMs: 0 });
  await stop([pid]);
  await operator.call("takeover", { target: targetIn(home, name), by: "campaign", killAfterMs: KILL_AFTER_MS });
  const owner = context.random() < 0.8 ? await operator.call("claim", clientClaim(home, name, process.pid)) : null;
  const before = rows.dump();
  process.kill(pid, "SIGCONT");
  await attempt(context, caller, name, old, owner ?? { ...old, generation: old.generation + 1 }, sent?.id);
  rows.checkSame(before);
  if (owner) await operator.call("release", { run: owner.run, generation: owner.generation, token: owner.token });
  rows.remember(old.run);
}

/** A worker that ignores TERM acts while it is fenced and not yet killed; then its exit code arrives late. */
async function displacedRun(context: Context, name: string): Promise<void> {
  const { home, operator, rows } = context;
  const caller = new RemoteCaller(
    home.spawn(["run", name, "--", process.execPath, CALLER], { stdio: ["pipe", "pipe", "pipe"] }),
  );
  const told = await caller.order({ do: "environment" });
  check("result" in told, "a worker has no environment");
  const old = told.result as Pick<ClaimGrant, "run" | "generation" | "token">;
  const exitFile = join(home.state, "runs", fileNameOf(old.run), "exit");
  await stop(home.processesOf(old.run).map(({ pid }) => pid));
  const takeover = operator.call("takeover", {
    target: targetIn(home, name),
    by: "campaign",
    killAfterMs: KILL_AFTER_MS,
  });
  await eventually("the fence", () => rows.phase(name) === "displacing");
  const before = rows.dump();
  // TERM comes with CONT, so the daemon itself has woken the zombie.
  await attempt(context, caller, name, old, { ...old, generation: old.generation + 1 });
  await checkStillTaken(context, name);
  writeFileSync(exitFile, "0\n");
  await attempt(context, caller, name, old, { ...old, generation: old.generation + 1 });
  rows.checkSame(before);
  await caller.exit(whole(context.random, 100));
  const { displaced, killed } = await within("a takeover", takeover);
  check(displaced === old.run && !killed, `takeover of ${old.run} said ${displaced}, killed ${killed}`);
  rows.remember(old.run);
  await actAfterDeath(context, name, old, exitFile);
}

/** Acts for a dead run: its token lives on in copies; its exit file can still be written by hand. */
async function actAfterDeath(
  context: Context,
  name: string,
  old: Pick<ClaimGrant, "run" | "generation" | "token">,
  exitFile: string,
): Promise<void> {
  const { home, operator, rows } = context;
  const owner = await operator.call("claim", clientClaim(home, name, process.pid));
  const before = rows.dump();
  writeFileSync(exitFile, "99\n");
  const ghost = new RemoteCaller(
    spawn(process.execPath, [CALLER], { env: home.env, stdio: ["pipe", "pipe", "inherit"] }),
  );
  try {
    await attempt(context, ghost, name, old, owner);
  } finally {
    ghost.child.kill("SIGKILL");
  }
  rows.checkSame(before);
  await operator.call("release", { run: owner.run, generation: owner.generation, token: owner.token });
}

/** While the old run is being stopped nobody else may have the name either. */
async function checkStillTaken({ home, operator }: Context, name: string): Promise<void> {
  const code = await operator.call("claim", clientClaim(home, name, process.pid)).then(
    () => "granted",
    (error: unknown) => (error as { code?: string }).code,
  );
  check(code === "held", `a claim of a fenced name was answered with ${code}`);
}

/** Everything a run that lost its name can try, as itself and with what it may have guessed of its successor. */
async function attempt(
  context: Context,
  caller: RemoteCaller,
  name: string,
  old: Pick<ClaimGrant, "run" | "generation" | "token">,
  now: Pick<ClaimGrant, "run" | "generation">,
  offered = "never-offered",
): Promise<void> {
  const pid = caller.child.pid ?? 0;
  const release = (token: string | null, run: string, generation: number): CallOrder => ({
    do: "call",
    token,
    call: "release",
    params: { run, generation, token: old.token },
  });
  const orders: CallOrder[] = [
    release(null, old.run, old.generation),
    release(null, old.run, now.generation),
    release(old.token, old.run, old.generation),
    release(old.token, old.run, now.generation),
    release(old.token, now.run, now.generation),
    release(null, now.run, now.generation),
    {
      do: "call",
      token: null,
      call: "keepalive",
      params: { run: old.run, generation: old.generation, token: old.token },
    },
    release(null, now.run, now.generation + 1 + whole(context.random, 3)),
    { do: "call", token: old.token, call: "claim", params: clientClaim(context.home, name, pid) },
    { do: "call", token: old.token, call: "claim", params: clientClaim(context.home, `${name}-other`, pid) },
    ...mailing(context.home, name, old, offered),
  ];
  for (const order of orders) {
    const answer = await caller.order(order);
    const fenced = "code" in answer && ["displaced", "stale", "refused"].includes(answer.code);
    check(fenced, () => `${JSON.stringify(order)} of a zombie was answered with ${JSON.stringify(answer)}`);
    context.tally.refused++;
  }
}

/** The calls of mail, by the run's own token and by the lease it believes to have. */
function mailing(home: Home, name: string, old: Lease, offered: string): CallOrder[] {
  const place = { here: projectRefOf(home), project: null };
  return [
    { token: old.token, who: { as: null, nested: false } },
    { token: null, who: selfOf(old) },
  ].flatMap(({ token, who }): CallOrder[] => [
    { do: "call", token, call: "send", params: { ...sendParams(home, name, "from a zombie"), ...who } },
    { do: "call", token, call: "takeMail", params: { ...who, ...place, max: 10, waitMs: 0 } },
    { do: "call", token, call: "ack", params: { ...who, ids: [offered], how: "read" } },
  ]);
}

type Lease = Pick<ClaimGrant, "run" | "generation" | "token">;

function selfOf({ run, generation, token }: Lease): Pick<CallParams<"ack">, "as" | "nested"> {
  return { as: { run, generation, token }, nested: false };
}

async function stop(pids: number[]): Promise<void> {
  check(pids.length > 0, "nothing to stop");
  const table = processTable();
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await eventually("SIGSTOP", () => pids.every((pid) => table.inspect(pid)?.suspended));
}
