import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startModel, type Model, type ModelRequest } from "./model/index.ts";
import { BIN, type Finished } from "../support/home.ts";
import { Pane, Tmux, until } from "../terminal/tmux.ts";
import { runIn } from "./harness/commands.ts";
import { VendorHome } from "./harness/homes.ts";
import type { VendorName } from "./harness/pins.ts";
import { Terminal } from "./harness/terminal.ts";
import type { Vendor } from "./harness/vendor.ts";
import { VENDORS } from "./harness/vendors/index.ts";
import type { Mode } from "./case.ts";
import { HeadlessWorker } from "./headless-worker.ts";
import { openForeignProgram, type ForeignOpener } from "./foreign-opener.ts";
import { TerminalWorker } from "./terminal-worker.ts";
import { TRAITS, type Traits } from "./traits.ts";
import type { CallOptions, Worker } from "./worker.ts";

/** A headless run takes seconds; this only keeps one that hangs from hanging everything. */
const RUN_TIMEOUT_MS = 120_000;
const MINUTE_MS = 60_000;

/** A home with one vendor's program and perdure in it, in one mode, and the model they talk to. */
export class LiveSetup {
  readonly vendor: Vendor;
  readonly traits: Traits;
  readonly mode: Mode;
  /** The case really waits for time to pass, where it could be made to look as if it had. */
  readonly patient: boolean;
  readonly model: Model;
  readonly home: VendorHome;
  /** Notes to print under the table of results although nothing failed. */
  readonly notes: string[] = [];
  readonly #tmux: Tmux | null;
  readonly #transcripts: string[];
  /** Variables that the terminals of this home do not have yet. */
  #variables: Readonly<Record<string, string>> = {};

  private constructor(
    [vendor, traits]: readonly [Vendor, Traits],
    { mode, patient }: { mode: Mode; patient: boolean },
    model: Model,
    home: VendorHome,
    tmux: Tmux | null,
  ) {
    this.vendor = vendor;
    this.traits = traits;
    this.mode = mode;
    this.patient = patient;
    this.model = model;
    this.home = home;
    this.#tmux = tmux;
    this.#transcripts = [join(home.dir, vendor.transcripts)];
  }

  static async open(name: VendorName, mode: Mode, patient = false): Promise<LiveSetup> {
    const traits = TRAITS[name];
    if (!traits) throw new Error(`no traits of ${name}`);
    const model = await startModel();
    const home = new VendorHome(model, [name]);
    await home.perdure(["daemon", "start"]);
    const tmux = mode === "tui" ? await Tmux.start(home) : null;
    return new LiveSetup([VENDORS[name], traits], { mode, patient }, model, home, tmux);
  }

  async close(): Promise<void> {
    await this.#tmux?.stop();
    await this.home.clear();
    await this.model.close();
  }

  /** Installs another vendor's program in the same home, with the same model, for workers that talk with this one's. */
  partner(): LiveSetup {
    const name = this.traits.partner;
    const traits = TRAITS[name];
    if (!traits) throw new Error(`no traits of ${name}`);
    const { mode, patient } = this;
    const variables = this.home.install(this.model, name);
    const partner = new LiveSetup([VENDORS[name], traits], { mode, patient }, this.model, this.home, this.#tmux);
    partner.#variables = variables;
    return partner;
  }

  /** The directive with which the model calls one of our tools. */
  callTool(tool: string, input: object): string {
    return `[[tool ${this.traits.toolName(tool)} ${JSON.stringify(input)}]]`;
  }

  worker(name: string, { env, ...options }: CallOptions = {}, mode = this.mode): Worker {
    const how = { ...options, env: { ...this.#variables, ...env } };
    return mode === "tui" ? new TerminalWorker(this, name, how) : new HeadlessWorker(this, name, how);
  }

  /** Makes one more config dir of the vendor, configured like the usual one; returns the variable that leads there. */
  configDir(name: string): { dir: string; env: Record<string, string> } {
    const home = join(this.home.dir, name);
    mkdirSync(home);
    this.vendor.configure(home, this.model.url);
    this.vendor.trust?.(home, this.home.project);
    const { config } = this.traits;
    const dir = join(config.dir(home), config.below ?? "");
    this.#transcripts.push(join(dir, config.transcripts));
    return { dir, env: { [config.variable]: config.dir(home) } };
  }

  /** Opens a conversation in the vendor's program by hand, so that perdure knows nothing of it. */
  openForeignProgram(session: string, text: string, said: string): Promise<ForeignOpener> {
    return openForeignProgram(this, session, text, said);
  }

  /** The files of all conversations, in every folder the vendor was given. */
  transcripts(): string[] {
    return this.#transcripts.flatMap((pattern) => globSync(pattern)).toSorted();
  }

  /** Puts the copies that perdure keeps out of its reach: what is lost now is lost. */
  hideCopies(): void {
    const copies = join(this.home.state, "custody");
    if (existsSync(copies)) renameSync(copies, `${copies}.hidden`);
    // Nor can the last look at a run that has just ended make another one.
    writeFileSync(copies, "");
  }

  /** Makes the current minute another one than that of the last write to any transcript. */
  async nextMinute(): Promise<void> {
    if (this.patient) await sleep(MINUTE_MS - (Date.now() % MINUTE_MS) + 1);
    // The oldest first: each takes the place the one before it has left.
    else for (const file of this.transcripts()) this.traits.age?.(file);
  }

  /** Tells whether a text is in a conversation on disk. */
  hasWritten(session: string, text: string): boolean {
    return this.filesOf(session).some((file) => contents(file).includes(text));
  }

  /** The files a conversation is in, by its id: one, where there is no damage. */
  filesOf(session: string): string[] {
    const { database, config } = this.traits;
    const { isOf = (file: string): boolean => file.includes(session) } = config;
    const isIn = (file: string): boolean => database !== null && contents(file).includes(session);
    return this.transcripts().filter((file) => isOf(file, session) || isIn(file));
  }

  /** All conversations: a file each, or the ids that the vendor's program lists from its database. */
  async conversations(): Promise<string[]> {
    const { database } = this.traits;
    if (!database) return this.transcripts();
    const { stdout } = await runIn(this.home, [this.vendor.name, ...database.list]);
    return [...new Set([...stdout.matchAll(database.id)].map(([id]) => id))].toSorted();
  }

  /** The text of a conversation on disk. */
  async transcriptOf(session: string, env: Readonly<Record<string, string | null>> = {}): Promise<string> {
    const { database } = this.traits;
    const [file = ""] = this.filesOf(session);
    if (!database) return readFileSync(file, "utf8");
    const home = { project: this.home.project, env: this.#environment({ env }) };
    return (await runIn(home, [this.vendor.name, ...database.print(session)])).stdout;
  }

  /** Waits, in the middle of a turn, until the prompt is on disk, with the vendors that write it before the answer. */
  async untilUnansweredIsWritten(session: string, text: string): Promise<string[]> {
    if (!this.traits.keepsUnanswered) return [];
    return until(`${text} on disk`, () => (this.hasWritten(session, text) ? [text] : null));
  }

  /** The requests to the model that are turns of conversations, without those that programs make on their own account. */
  turnRequests(): readonly ModelRequest[] {
    return this.model.requests.filter(({ auxiliary }) => !auxiliary);
  }

  /** The session that asks, as the program says it to the model; null for vendors that do not say. */
  sessionOf({ identity }: ModelRequest): string | null {
    const { header } = this.vendor.session;
    return header === null ? null : (identity[header] ?? "none");
  }

  async perdure(words: readonly string[], how: CallOptions = {}): Promise<Finished> {
    const env = this.#environment(how);
    return this.home.perdure([...words], { cwd: how.cwd ?? this.home.project, env, timeout: RUN_TIMEOUT_MS });
  }

  /** Starts perdure in the background. */
  spawn(words: readonly string[], how: CallOptions): ReturnType<VendorHome["spawn"]> {
    const env = this.#environment(how);
    return this.home.spawn([...words], { cwd: how.cwd ?? this.home.project, env, timeout: RUN_TIMEOUT_MS });
  }

  async terminal(command: readonly string[]): Promise<Terminal> {
    return Terminal.open(this.#inTerminals(), this.vendor, command);
  }

  /** The terminal that was opened last. */
  newestPane(): Pane {
    return new Pane(this.#inTerminals(), ":{end}");
  }

  /** Runs a command in a terminal to its end. */
  async inPane(command: readonly string[]): Promise<{ code: number; text: string }> {
    const tmux = this.#inTerminals();
    const pane = await tmux.pane([...command]);
    const code = await pane.ended();
    // From the very beginning: tmux moves everything up by a line to say that the command has ended.
    const text = await tmux.do("capture-pane", "-p", "-J", "-S", "-", "-t", pane.id);
    await pane.kill();
    return { code, text };
  }

  /** perdure as a terminal's own command, from another folder and with other variables where they are given. */
  inTerminal(words: readonly string[], { cwd, env = {} }: CallOptions): string[] {
    const variables = Object.entries(env).map(([name, value]) => (value === null ? `-u${name}` : `${name}=${value}`));
    // `env` wants the options first.
    return ["env", "-C", cwd ?? this.home.project, ...variables.toSorted(), BIN, ...words];
  }

  #inTerminals(): Tmux {
    if (!this.#tmux) throw new Error("there is no terminal in this mode");
    return this.#tmux;
  }

  #environment({ env = {} }: CallOptions): Record<string, string> {
    const all = Object.entries({ ...this.home.env, ...env });
    return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  }
}

/** A database writes to a file beside it first. */
function contents(file: string): Buffer {
  const log = `${file}-wal`;
  return existsSync(log) ? Buffer.concat([readFileSync(file), readFileSync(log)]) : readFileSync(file);
}
