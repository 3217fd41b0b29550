import type { Client } from "../../client/connect.ts";
import { PEEK_LINES } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { asPerdureError } from "../../protocol/errors.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { AltScreen } from "../shared/terminal/alt-screen.ts";
import { askForLine } from "../shared/terminal/ask-line.ts";
import { attentionItems, attentionTitle, type AttentionItem } from "../shared/table/attention-list.ts";
import { callDaemon } from "../shared/call.ts";
import { targetOf } from "../shared/here.ts";
import { leavingKeys } from "../shared/terminal/leaving-keys.ts";
import { write, type Output } from "../shared/output.ts";
import { whereProcess } from "../shared/terminal/where-process.ts";
import { runHere, runQuietly } from "../shared/terminal/run-verb-child.ts";
import { inOrderOfNames } from "../shared/table/worker-table.ts";
import { boardFrame, helpLength, type BoardState } from "./board-frame.ts";
import { followWorkers } from "./follow-workers.ts";

/** Things that the board shows beside the workers themselves. */
export interface BoardSurroundings {
  title: string;
  needs: readonly AttentionItem[];
  next: string;
}

export interface BoardRequest {
  params: CallParams<"ls">;
  /** Shows addresses (`project/name`) in place of names. */
  addresses: boolean;
  /** The root of the caller's project. */
  root: string | null;
  /** Looks at what else there is to show; without it, who needs somebody is all. */
  surroundings?: (client: Client, workers: readonly WorkerSummary[]) => Promise<BoardSurroundings>;
}

/** Shows the workers until `q`, current and with keys that act on them. Resolves to the exit code. */
export async function openBoard(request: BoardRequest, out: Output): Promise<number> {
  const board = new Board(request, out);
  try {
    return await Promise.race([board.quit, board.follow()]);
  } finally {
    board.close();
  }
}

class Board {
  readonly #request: BoardRequest;
  readonly #out: Output;
  readonly #screen: AltScreen;
  readonly #state: BoardState;
  /** An action that uses the terminal or waits for an answer; keys are dropped meanwhile. */
  #acting = false;
  #quit: (code: number) => void = () => undefined;
  readonly quit = new Promise<number>((resolve) => (this.#quit = resolve));

  constructor(request: BoardRequest, out: Output) {
    const { addresses, root } = request;
    this.#request = request;
    this.#out = out;
    this.#screen = new AltScreen((key) => this.#onKey(key));
    const empty = {
      workers: [],
      selected: null,
      needs: [],
      title: "",
      next: "",
      notice: "",
      lost: false,
      leaving: leavingKeys(),
    };
    this.#state = { ...empty, addresses, root, view: { kind: "list" } };
  }

  async follow(): Promise<never> {
    return followWorkers(this.#request.params, {
      look: (client) => this.#look(client),
      lost: () => {
        this.#state.lost = true;
        this.#paint();
      },
    });
  }

  close(): void {
    this.#screen.close();
  }

  async #look(client: Client): Promise<void> {
    const { params, addresses, surroundings } = this.#request;
    const { items } = await client.collect("ls", params);
    const workers = inOrderOfNames(items);
    const needs = attentionItems(workers, addresses);
    const where = params.all ? "all projects" : (workers[0]?.project ?? params.here.base);
    const count = `${workers.length} worker${workers.length === 1 ? "" : "s"}`;
    const around = (await surroundings?.(client, workers)) ?? { title: `${where}  ${count}`, needs, next: "" };
    Object.assign(this.#state, around, { workers, selected: this.#selectedOf(workers), lost: false });
    await this.#refreshPeek();
    this.#paint();
  }

  /** Keeps the selection; a new one is whoever needs somebody, else the first. */
  #selectedOf(workers: readonly WorkerSummary[]): string | null {
    const { selected } = this.#state;
    if (selected !== null && workers.some(({ address }) => address === selected)) return selected;
    return (needy(workers)[0] ?? workers[0])?.address ?? null;
  }

  #paint(): void {
    this.#screen.show(() => {
      const size = { rows: process.stdout.rows || 24, columns: this.#out.columns };
      return boardFrame(this.#state, size, this.#out.paint);
    }, attentionTitle(this.#state.workers));
  }

  #say(notice: string): void {
    this.#state.notice = notice;
    this.#paint();
  }

  #onKey(key: string): void {
    if (this.#acting) return;
    this.#state.notice = "";
    const { view } = this.#state;
    if (view.kind === "list") this.#onListKey(key);
    else if (view.kind === "peek") this.#onPeekKey(key);
    else if (view.kind === "question") this.#onAnswer(key);
    else this.#onHelpKey(view.from, key);
    if (!this.#acting) this.#paint();
  }

  #onListKey(key: string): void {
    const steps: Readonly<Record<string, number>> = {
      up: -1,
      k: -1,
      down: 1,
      j: 1,
      "page-up": -this.#page(),
      "page-down": this.#page(),
      home: -Infinity,
      end: Infinity,
    };
    const step = steps[key];
    if (step !== undefined) this.#move(step);
    else if (key === "q") this.#quit(0);
    else if (key === "?") this.#state.view = { kind: "help", from: 0 };
    else if (key === "n") this.#nextNeedy();
    else this.#onActionKey(key);
  }

  #onActionKey(key: string): void {
    const worker = this.#selected();
    if (worker === null) return;
    if (key === "enter") this.#act(() => this.#attach(worker));
    else if (key === "s") this.#act(() => this.#send(worker));
    else if (key === "l") this.#act(() => this.#peek(worker));
    else if (key === "u") this.#act(() => this.#bringUp(worker));
    else if (key === "r") this.#askRestart(worker);
  }

  #onPeekKey(key: string): void {
    const { view } = this.#state;
    if (view.kind !== "peek") return;
    const scroll: Readonly<Record<string, number>> = {
      up: 1,
      k: 1,
      down: -1,
      j: -1,
      "page-up": this.#page(),
      "page-down": -this.#page(),
    };
    const lines = scroll[key];
    if (lines !== undefined) {
      const most = Math.max(0, view.lines.length - this.#page());
      this.#state.view = { ...view, above: Math.max(0, Math.min(most, view.above + lines)) };
    } else {
      this.#state.view = { kind: "list" };
      if (key === "enter") this.#onActionKey(key);
    }
  }

  /** Scrolls, where there is more than fits; any other key goes back. */
  #onHelpKey(from: number, key: string): void {
    const steps: Readonly<Record<string, number>> = { down: 1, j: 1, up: -1, k: -1 };
    const [step, lines] = [steps[key], helpLength(this.#state, this.#out.columns)];
    const last = Math.max(0, lines - (process.stdout.rows || 24) + 1);
    const isMore = step !== undefined && last > 0;
    this.#state.view = isMore ? { kind: "help", from: Math.max(0, Math.min(last, from + step)) } : { kind: "list" };
  }

  #onAnswer(key: string): void {
    this.#state.view = { kind: "list" };
    const worker = this.#selected();
    if (key === "y" && worker !== null) this.#act(() => this.#restart(worker));
  }

  #page(): number {
    return Math.max(1, (process.stdout.rows || 24) - 4);
  }

  #selected(): WorkerSummary | null {
    return this.#state.workers.find(({ address }) => address === this.#state.selected) ?? null;
  }

  #move(step: number): void {
    const { workers, selected } = this.#state;
    const at = workers.findIndex(({ address }) => address === selected);
    const next = Math.max(0, Math.min(workers.length - 1, at + step));
    this.#state.selected = workers[next]?.address ?? null;
  }

  #nextNeedy(): void {
    const { workers, selected } = this.#state;
    const at = workers.findIndex(({ address }) => address === selected);
    const next = needy([...workers.slice(at + 1), ...workers.slice(0, at + 1)])[0];
    if (next) this.#state.selected = next.address;
    else this.#state.notice = "Nobody needs you.";
  }

  /** Does what a key asks for; a refusal is one line, and the board goes on. */
  #act(action: () => Promise<void>): void {
    this.#acting = true;
    void action()
      .catch((error: unknown) => {
        const { message, hint } = asPerdureError(error);
        this.#state.notice = hint === null ? message : `${message} → ${hint}`;
      })
      .finally(() => {
        this.#acting = false;
        this.#paint();
      });
  }

  async #attach({ address, mode, name, run }: WorkerSummary): Promise<void> {
    if (!["tmux", "turn"].includes(mode)) {
      this.#state.notice = run === null ? `${name} does not run: u brings it up.` : elsewhere(name, run.pid);
      return;
    }
    const { code, said } = await this.#screen.lend(() => runHere(["attach", address], { errors: "kept" }));
    if (code !== 0) this.#state.notice = said || `The terminal of ${name} cannot be shown.`;
  }

  async #send({ address, name }: WorkerSummary): Promise<void> {
    const text = await this.#screen.lendHere("line", () => askForLine(`Message to ${name} (empty sends none): `));
    if (text === "") return;
    const { said } = await runQuietly(["send", address, "-"], text);
    this.#state.notice = said;
  }

  async #peek({ address }: WorkerSummary): Promise<void> {
    this.#state.view = { kind: "peek", address, lines: await screenOf(address), above: 0 };
  }

  /** Reads the terminal that is looked at anew, unless somebody scrolls in it. */
  async #refreshPeek(): Promise<void> {
    const { view } = this.#state;
    if (view.kind !== "peek" || view.above > 0) return;
    const lines = await screenOf(view.address).catch(() => null);
    if (lines !== null && this.#state.view === view) this.#state.view = { ...view, lines };
  }

  async #bringUp({ address, name, folder }: WorkerSummary): Promise<void> {
    const cwd = this.#request.params.all ? folder : undefined;
    const [code, key] = await this.#screen.lendHere("screen", async () => {
      const ended = await runHere(["up", name], { errors: "shown", cwd });
      write(1, "\nEnter goes back, q quits. ");
      return [ended.code, await this.#screen.pressed(["enter", "escape", "q"])] as const;
    });
    if (key === "q") this.#quit(0);
    this.#state.notice = code === 0 ? "" : `${address} did not come up; u shows why once more.`;
  }

  #askRestart({ mode, run, name, vendor }: WorkerSummary): void {
    if (mode !== "tmux" || run === null) {
      this.#state.notice = run === null ? `${name} does not run: u brings it up.` : elsewhere(name, run.pid);
      return;
    }
    const where = vendor === null ? "from scratch" : "in its conversation";
    this.#state.view = { kind: "question", text: `Restart ${name} ${where}?` };
  }

  async #restart({ address, name }: WorkerSummary): Promise<void> {
    this.#say(`Restarting ${name}…`);
    this.#state.notice = (await runQuietly(["restart", address])).said;
  }
}

function needy(workers: readonly WorkerSummary[]): WorkerSummary[] {
  const names = new Set(attentionItems(workers, true).map(({ name }) => name));
  return workers.filter(({ address }) => names.has(address));
}

/** Says where a worker is whose terminal is not perdure's. */
function elsewhere(name: string, pid: number): string {
  return `${name} runs in a terminal of its own: ${whereProcess(pid)}`;
}

async function screenOf(address: string): Promise<string[]> {
  const { text } = await callDaemon("readScreen", { target: targetOf(address), lines: PEEK_LINES });
  return text.trimEnd().split("\n");
}
