import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { PaneRecord } from "../../protocol/records/fleet.ts";
import { attachPlan } from "../../runtime/tmux/attach.ts";
import { verb } from "../../protocol/hint.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { attentionItems, type AttentionItem } from "../shared/table/attention-list.ts";
import { callDaemon, listFromDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { projectOfRun, projectRefHere, targetOf } from "../shared/here.ts";
import {
  hasTerminalAround,
  ownPrefixKey,
  prefixKey,
  sessionFolder,
  windowOpenedFor,
} from "../shared/terminal/leaving-keys.ts";
import { hasKeys, isTerminal, printable, type Output } from "../shared/output.ts";
import { runHere } from "../shared/terminal/run-verb-child.ts";
import { whereProcess } from "../shared/terminal/where-process.ts";
import { inOrderOfNames } from "../shared/table/worker-table.ts";

export const attach: Command = {
  summary: "go to a worker's terminal",
  usage: "[NAME] [--popup | --window]",
  details: [
    "Without a NAME it goes to the one worker that needs you, else to the only one; where there are several, you pick, and",
    "those that need you come first.",
    "Ctrl-b d leaves the terminal again; the worker keeps running. The other workers of the project are the other windows.",
    "Inside a tmux of your own the terminal is nested, and the first Ctrl-b goes to the outer one: Ctrl-b Ctrl-b d leaves.",
    "With a prefix of your own ([tmux] conf in your config.toml) it is that in place of Ctrl-b.",
  ].join("\n"),
  examples: ["perdure attach", "perdure attach coder", "perdure attach coder --popup"],
  options: {
    popup: { about: "inside a tmux of your own: show it in a popup there" },
    window: { about: "inside a tmux of your own: show it in a window of its own there" },
  },
  completes: ["worker"],
  words: [0, 1],

  async run({ words, values, out }) {
    const name = words[0] ?? (await chooseWorker(out));
    if (name === null) return pickAndAttach(values, out);
    const pane = await paneOf(name, out);
    if (out.json) return out.result(pane, () => "");
    if (!isTerminal(0)) {
      throw new PerdureError("usage", "attach needs a terminal.", { hint: `perdure logs ${name}` });
    }
    const { tmux: file, socket, session, window, pane: id, address } = pane;
    const where = values.popup === true ? "popup" : values.window === true ? "window" : "here";
    const [project = "", worker = ""] = address.split("/");
    const insideTmux = process.env.TMUX;
    const outerPrefix = insideTmux ? prefixKey(file) : null;
    const prefix = ownPrefixKey(file, socket);
    const folder = sessionFolder(file, socket, session);
    const at = { file, socket, session, window, pane: id, folder, project, worker };
    const plan = attachPlan({ ...at, insideTmux, outerPrefix, prefix, where });
    if (where === "popup" && insideTmux && !plan.isOurs && !hasTerminalAround(file)) {
      throw new PerdureError("usage", "No terminal is attached to your tmux, so no popup can be opened.", {
        hint: verb("attach", worker, "--window"),
      });
    }
    const opened = where === "window" && !plan.isOurs ? windowOpenedFor(file, address) : null;
    const argv = opened === null ? plan.argv : [file, "select-window", "-t", opened];
    if (pane.problem !== undefined) out.note(pane.problem);
    if (plan.notice !== null) out.note(plan.notice);
    const env = Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !plan.unset.includes(entry[0]),
    );
    if (process.execve === undefined) throw new Error("this Node has no process.execve");
    process.execve(file, argv, Object.fromEntries(env));
  },
};

/** Returns the pane of a worker; one that sleeps until its mail comes is opened in a pane first. */
async function paneOf(name: string, out: Output): Promise<PaneRecord> {
  const target = targetOf(name);
  try {
    return await callDaemon("findPane", { target });
  } catch (error) {
    if (isPerdureError(error) && typeof error.details?.runsIn === "number")
      throw elsewhereError(error, error.details.runsIn);
    if (!isPerdureError(error) || error.details?.asleep !== true) throw error;
  }
  await callDaemon("openPane", { target });
  out.note(`${name} was asleep and is opened for you; its mail waits until the program ends.`);
  return callDaemon("findPane", { target });
}

/** Adds where a person finds the terminal: the daemon knows the process only. */
function elsewhereError(error: PerdureError, pid: number): PerdureError {
  const message = error.message.replace(
    `(pid ${pid})`,
    `(${whereProcess(pid).replace(` (pid ${pid})`, `, pid ${pid}`)})`,
  );
  return new PerdureError(error.code, message, { hint: error.next, details: error.details, cause: error });
}

/** Returns whom to go to: the only one that needs somebody, else the only one; null where a person has to say. */
async function chooseWorker(out: Output): Promise<string | null> {
  const workers = await workersInPanes();
  const [first, another] = workers;
  if (first === undefined) {
    throw new PerdureError("not-found", "No worker is up.", {
      hint: "perdure up; or a new one: perdure up NAME -- COMMAND",
    });
  }
  const needy = needyAmong(workers);
  const [only, second] = needy;
  if (only !== undefined && second === undefined) {
    if (another !== undefined) out.note(printable(`${only.name} needs you: ${only.why}`));
    return only.name;
  }
  return another === undefined ? first.address : null;
}

/** Lets a person pick, and attaches in a program of its own: this one has read keys, and its input is no longer as it was found. */
async function pickAndAttach(values: Invocation["values"], out: Output): Promise<number> {
  const all = await workersInPanes();
  const needs = new Map(needyAmong(all).map(({ name, why }) => [name, why]));
  // Those that need somebody come first.
  const workers = all.toSorted((a, b) => Number(needs.has(b.address)) - Number(needs.has(a.address)));
  const names = workers.map(({ address }) => address);
  if (!hasKeys(out))
    throw new PerdureError("usage", "attach: NAME is missing.", { hint: `up are ${names.join(", ")}` });
  const { pickOne } = await import("../shared/terminal/picker.ts");
  const rows = workers.map(({ address, state, words = "" }) => [address, state, needs.get(address) ?? words]);
  const title = needs.size > 1 ? `Attach to (${needs.size} need you)` : "Attach to";
  const name = names[(await pickOne({ title, rows }, out)) ?? -1];
  if (name === undefined) return 0;
  const where = ["popup", "window"].filter((option) => values[option] === true).map((option) => `--${option}`);
  return (await runHere(["attach", name, ...where], { errors: "shown" })).code;
}

function needyAmong(workers: readonly WorkerSummary[]): AttentionItem[] {
  return attentionItems(workers, true);
}

/** Lists the workers that have a terminal to go to: those of this project, else of all. */
async function workersInPanes(): Promise<WorkerSummary[]> {
  const params = { here: projectRefHere(), project: projectOfRun() };
  for (const all of [false, true]) {
    const { items } = await listFromDaemon("ls", { ...params, all });
    const inPanes = items.filter(({ mode, run }) => mode === "tmux" && run !== null);
    if (inPanes.length > 0) return inOrderOfNames(inPanes);
  }
  return [];
}
