// Each form of the wrapper by itself, without daemon: machines differ in what `env` and `sh` can do.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wrapperCommand, type WrapperForm } from "../../src/runtime/wrapper/script.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { Home } from "../support/home.ts";
import { PROGRAMS, writeText } from "./programs.ts";
import { Shell } from "./shell.ts";
import { withTmux } from "./hooks.ts";
import { CLEAN, type Tmux, until } from "./tmux.ts";

const home = new Home();
const table = processTable();
let tmux: Tmux;

writeText(home);
withTmux(home, (started) => (tmux = started));

const FORMS: WrapperForm[] = ["env", "bash", "plain"];

/** A script that becomes the wrapper, and carries a mark its processes are known by. */
class Launch {
  readonly #folder = mkdtempSync(join(home.dir, "run-"));
  readonly file = join(this.#folder, "launch");

  constructor(form: WrapperForm, command: string[]) {
    const { file, args } = wrapperCommand(form, this.#folder, command, { ignored: [], openFiles: null });
    const [name, ...rest] = args.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    writeFileSync(this.file, `export LAUNCH=${this.#folder}\nexec -a ${name} ${file} ${rest.join(" ")}\n`);
  }

  get line(): string {
    return `bash --norc ${this.file}`;
  }

  exit(): number | null {
    try {
      return Number(readFileSync(join(this.#folder, "exit"), "utf8"));
    } catch {
      return null;
    }
  }

  async ended(): Promise<number> {
    return until("an exit file", () => this.exit());
  }

  /** The program's pid and the wrapper's, once the program runs. */
  async pids(command: RegExp): Promise<{ program: number; wrapper: number }> {
    const look = (): { program: number; wrapper: number } | null => {
      const all = table.withVariable("LAUNCH", this.#folder);
      const program = all.find((each) => command.test(each.command) && all.some(({ pid }) => pid === each.parentPid));
      return program ? { program: program.pid, wrapper: program.parentPid } : null;
    };
    return until(`a program ${String(command)}`, look);
  }
}

const CODES: [command: string, status: number][] = [
  ["true", 0],
  ["exit 7", 7],
  ["kill -TERM $$", 143],
  ["ulimit -c 0; kill -SEGV $$", 139],
  ["[ -t 0 ] && read -r word < /dev/null; exit 4", 4],
];

const CASES = FORMS.flatMap((form) => CODES.map(([command, status]) => ({ form, command, status })));

test.for(CASES)("$form: $command is $status, without a word", async ({ form, command, status }) => {
  const launch = new Launch(form, ["/bin/sh", "-c", command]);
  const shell = await Shell.start(tmux, home);
  expect(await shell.run(`clear; ${launch.line}`)).toBe(status);
  expect(launch.exit()).toBe(status);
  expect((await shell.pane.screen()).trim()).toBe(`<2:${status}>`);
});

test.for(FORMS)("%s: Ctrl-C ends the program, and a loop around it", async (form) => {
  const launch = new Launch(form, ["/bin/sleep", "1000"]);
  const shell = await Shell.start(tmux, home);
  await shell.pane.line(`for i in 1 2; do ${launch.line}; done`);
  await launch.pids(/^sleep$/);
  await shell.pane.keys("C-c");
  expect(await shell.status()).toBe(130);
  expect(launch.exit()).toBe(130);
});

test.for(FORMS)("%s: a program's own answer to Ctrl-C is its exit code, each time", async (form) => {
  const shell = await Shell.start(tmux, home);
  for (let time = 0; time < 5; time += 1) {
    const launch = new Launch(form, [
      "/bin/sh",
      "-c",
      `trap 'exit 3' INT; echo ready ${time}; while :; do sleep 0.02; done`,
    ]);
    await shell.pane.line(launch.line);
    await shell.pane.shows(new RegExp(`^ready ${time}$`, "m"));
    await shell.pane.keys("C-c");
    expect(await shell.status()).toBe(3);
    expect(launch.exit()).toBe(3);
  }
});

test.for(FORMS)("%s: Ctrl-Z, fg, keys, a killed vim, and the terminal is as before", async (form) => {
  const launch = new Launch(form, ["/usr/bin/vim", ...PROGRAMS.vim.words.slice(1)]);
  const shell = await Shell.start(tmux, home);
  const settings = shell.settings();
  await shell.pane.line(launch.line);
  await shell.pane.shows(PROGRAMS.vim.ready ?? /never/);
  await shell.pane.keys("C-z");
  expect(await shell.status()).toBe(148);
  await shell.pane.line("fg");
  await shell.pane.shows(PROGRAMS.vim.back ?? /never/);
  await PROGRAMS.vim.useIt(shell.pane);
  process.kill((await launch.pids(PROGRAMS.vim.command)).program, "SIGKILL");
  expect(await shell.status()).toBe(137);
  expect(launch.exit()).toBe(137);
  expect(await shell.pane.modes()).toEqual(CLEAN);
  expect(shell.settings()).toBe(settings);
  await shell.echoes();
});

test.for(FORMS)("%s: TERM to the wrapper", async (form) => {
  const launch = new Launch(form, ["/bin/sleep", "1000"]);
  const shell = await Shell.start(tmux, home);
  await shell.pane.line(launch.line);
  const { wrapper, program } = await launch.pids(/^sleep$/);
  process.kill(wrapper, "SIGTERM");
  expect(await shell.status()).toBe(143);
  // The plain form cannot pass it on: the program is a survivor, as after KILL to the wrapper.
  expect(launch.exit()).toBe(form === "plain" ? null : 143);
  expect(table.inspect(program) !== null).toBe(form === "plain");
  if (form === "plain") process.kill(program, "SIGKILL");
});

test.for(FORMS)("%s: a killed pane takes the program with it", async (form) => {
  const launch = new Launch(form, ["/bin/sleep", "1000"]);
  const pane = await tmux.pane(["bash", "--norc", launch.file]);
  const { program } = await launch.pids(/^sleep$/);
  await pane.kill();
  await until("the program's end", () => (table.inspect(program) === null ? true : null));
  // The plain form was hung up itself, and could leave no code.
  expect(form === "plain" ? launch.exit() : await launch.ended()).toBe(form === "plain" ? null : 129);
});
