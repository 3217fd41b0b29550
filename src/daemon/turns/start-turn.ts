import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import type { NextTurn } from "../../core/next-turn.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { lastEntryOfRun } from "../../store/conversations.ts";
import { messageById, type Message } from "../../store/messages.ts";
import { clearBeginsAnew } from "../../store/fleet.ts";
import { runById, type Run } from "../../store/runs.ts";
import { insertTurn } from "../../store/turns.ts";
import { setHopsOfRun } from "../../store/wakes.ts";
import { fleetSettingsOf, type Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { recordEvent } from "../events.ts";
import { transition } from "../mail/transition.ts";
import {
  claimOwnStart,
  prepareOwnStart,
  releaseClaim,
  removeScript,
  setWrapper,
  type ReadyStart,
} from "../names/own-start.ts";
import { assertCurrent } from "../permissions/actor.ts";
import { turnFiles, type TurnFiles } from "./files.ts";
import { turnPrompt } from "./prompt.ts";
import type { TurnServices } from "./services.ts";

/**
 * Starts one turn: claims, plans, offers the messages to the run, and lets a shell without a terminal become the wrapper. The shell has a
 * session of its own, and its output goes to files, so that the turn goes on whatever becomes of the daemon. Null if there is nothing to
 * say any more: the messages were cancelled meanwhile.
 */
export async function startTurn(services: TurnServices, worker: Worker, next: NextTurn): Promise<Run | null> {
  assertHasTurns(worker);
  const recorded = services.environments.require(worker);
  const fresh = fleetSettingsOf(worker).beginsAnew === true;
  const input = { command: null, cwd: null, vendor: null, ...recorded, fresh };
  const claimed = await claimOwnStart(services, worker.id, input, "turn");
  const { run, runDir } = claimed.grant;
  try {
    const start = await prepareOwnStart(services, claimed, services.minting);
    const told = await offerMessages(services, start, next);
    if (told === null) {
      await release(services, run);
      return null;
    }
    const { session } = start.launch;
    const firstPrompt = session?.step === "new" ? start.settings.prompt : null;
    const files = turnFiles(runDir);
    writeFileSync(files.prompt, turnPrompt(services, start, { ...told, firstPrompt }), { mode: 0o600 });
    assertCurrent(services, run, start.grant.generation);
    return await setWrapper(services, run, startShell(start, files), null);
  } catch (error) {
    removeScript(claimed);
    await release(services, run);
    throw error;
  }
}

function assertHasTurns({ name, vendor }: Worker): void {
  if (vendor !== null && adapterOf(vendor)?.turn) return;
  const what = vendor === null ? "it is a plain program" : `perdure knows no such mode of ${vendor}`;
  throw new PerdureError("refused", `${name} cannot make a turn without a terminal: ${what}.`, {
    hint: hintOf`set mode = "tmux" in perdure.toml, or start it: ${verb("run", name)}`,
  });
}

/** Offers the messages to the run and records what the turn is for, in one change. What was cancelled meanwhile is left out. */
function offerMessages(services: TurnServices, start: ReadyStart, next: NextTurn): Promise<NextTurn | null> {
  const { grant, launch, worker, project } = start;
  const { run, generation } = grant;
  return services.writer.write(() => {
    assertCurrent(services, run, generation);
    const messages = next.messages
      .map((id) => messageById(services.db, id))
      .filter((message): message is Message => message?.state === "queued");
    const ask = messages.some(({ id }) => id === next.ask) ? next.ask : null;
    if (messages.length === 0 || ask !== next.ask) return null;
    const ids = messages.map(({ id }) => id);
    for (const message of messages) transition(services, message, "offer", { run, generation, reason: "in a turn" });
    const nowMs = services.mail.now();
    insertTurn(services.db, {
      runId: run,
      workerId: worker.id,
      projectId: project.id,
      ask,
      messages: ids,
      session: launch.session?.id ?? "",
      bytesBefore: lastEntryOfRun(services.db, run)?.bytesBefore ?? null,
      startedMs: nowMs,
    });
    setHopsOfRun(services.db, run, Math.max(...messages.map(({ hops }) => hops)));
    clearBeginsAnew(services.db, worker.id);
    const subject = { projectId: project.id, workerId: worker.id, run, generation };
    recordEvent(services, "turn.started", subject, { ask, messages: ids });
    return { ask, messages: ids };
  });
}

/** Starts the shell in a session of its own; what it prints, and the program after it, goes to files. Returns its pid. */
function startShell({ grant, launch, script }: ReadyStart, files: TurnFiles): number {
  const stdio = [openSync(files.prompt, "r"), openSync(files.stdout, "a", 0o600), openSync(files.stderr, "a", 0o600)];
  try {
    const child = spawn("/bin/sh", [script], {
      cwd: launch.cwd,
      env: { PERDURE_RUN: grant.run, PERDURE_SOCKET: grant.socket },
      detached: true,
      stdio,
    });
    // The run's own end is found by its exit file and its processes.
    child.on("error", () => undefined).unref();
    if (child.pid === undefined) throw new PerdureError("unavailable", "No process could be started.", RETRY);
    return child.pid;
  } finally {
    for (const fd of stdio) closeSync(fd);
  }
}

const RETRY = { hint: "the machine has no room for another process; it is tried again", retryable: true };

async function release(services: TurnServices, id: string): Promise<void> {
  const run = runById(services.db, id);
  if (run !== null && run.endedMs === null) await releaseClaim(services, run);
}
