import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isErrno } from "../../../src/state/files.ts";
import type { Case } from "../case.ts";
import { writeFleet } from "../fleet-file.ts";
import type { LiveSetup } from "../setup.ts";

const REPOSITORY = resolve(import.meta.dirname, "../../..");
const COMMANDS_MOST = 5;
/** The installation of the packages, and the build, on a machine that does other things as well. */
const INSTALL_WAIT_MS = 300_000;

export const firstFleet: Case = {
  letter: "ca",
  title: "from git clone to an agent that answers in a fleet: five commands, one y",
  modes: ["tui"],
  elsewhere: "a person types it in a terminal",
  core: false,
  async run(setup) {
    const offline = offlineInstall();
    if (offline === null) {
      setup.notes.push("ca: not tried, because there is no npm cache to install from without a network");
      return;
    }
    await setup.home.perdure(["daemon", "stop"]);
    const project = strangersProject(setup);
    const person = await Person.sitDown(setup, { ...offline, ...TRUST_THE_CLONE });
    await person.types(`git clone -q ${REPOSITORY} perdure`);
    await person.types("perdure/scripts/setup");
    await person.types(`cd ${project}`);
    const words = [...setup.vendor.interactive.before, ...setup.traits.interactive].map((word) => `'${word}'`);
    await person.types(`../perdure/bin/perdure.js up coder -- ${[setup.vendor.name, ...words].join(" ")}`, /Run it\?/);
    await person.answers("y");
    await person.enters("../perdure/bin/perdure.js attach coder");

    await person.terminal.prompt("hello");
    await person.terminal.shows("turns=1 first=hello");
    assert.equal(person.commands.length, COMMANDS_MOST, person.commands.join("\n"));
    assert.deepEqual(person.given, ["y"]);
    const file = readFileSync(join(setup.home.dir, project, "perdure.toml"), "utf8");
    assert.match(file, new RegExp(`\\n\\[workers\\.coder\\]\\nvendor = "${setup.vendor.name}"\\n`));
    await setup.home.perdure(["down"], { cwd: join(setup.home.dir, project) });
    await setup.home.perdure(["daemon", "stop"]);
  },
};

/** Somebody at a shell: what they type is counted, and each command is waited for. */
class Person {
  readonly terminal: Awaited<ReturnType<LiveSetup["terminal"]>>;
  readonly #pane: ReturnType<LiveSetup["newestPane"]>;
  readonly commands: string[] = [];
  readonly given: string[] = [];

  private constructor(setup: LiveSetup, terminal: Person["terminal"]) {
    this.terminal = terminal;
    this.#pane = setup.newestPane();
  }

  static async sitDown(setup: LiveSetup, variables: Readonly<Record<string, string>>): Promise<Person> {
    const set = Object.entries({ ...variables, PS1: "<\\#:$?> " }).map(([name, value]) => `${name}=${value}`);
    const shell = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "-C", setup.home.dir, ...set, "bash"];
    const terminal = await setup.terminal([...shell, "--norc", "--noprofile", "-i"]);
    const person = new Person(setup, terminal);
    await person.#prompted();
    return person;
  }

  /** Types a command, and waits for its end, which has to be a success; or for a question of its. */
  async types(command: string, question?: RegExp): Promise<void> {
    await this.enters(command);
    if (question === undefined) await this.#prompted();
    else await this.terminal.until(String(question), (screen) => question.test(screen));
  }

  async enters(command: string): Promise<void> {
    this.commands.push(command);
    await this.#pane.line(command);
  }

  async answers(answer: string): Promise<void> {
    this.given.push(answer);
    await this.#pane.line(answer);
    await this.#prompted();
  }

  async #prompted(): Promise<void> {
    const prompt = `<${this.commands.length + 1}:`;
    const screen = await this.terminal.until(prompt, (shown) => shown.includes(prompt), INSTALL_WAIT_MS);
    assert.ok(screen.includes(`${prompt}0>`), screen);
  }
}

/** A repository that came from somebody else, with a fleet of theirs. */
function strangersProject(setup: LiveSetup): string {
  const folder = join(setup.home.dir, "app");
  mkdirSync(folder);
  writeFleet(setup, folder, ["theirs"], null);
  setup.home.git(["init", "-q"], folder);
  setup.home.seedFolder(folder);
  writeFileSync(join(folder, "README.md"), "# app\n");
  return "app";
}

const TRUST_THE_CLONE = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" };

/** The settings with which npm takes what this machine has installed before, because there is no network here; null without that. */
function offlineInstall(): Record<string, string> | null {
  try {
    const [cache, registry] = ["cache", "registry"].map(configured);
    accessSync(join(cache ?? "", "_cacache"), constants.W_OK);
    return { npm_config_cache: cache ?? "", npm_config_registry: registry ?? "", npm_config_offline: "true" };
  } catch (error) {
    if (isErrno(error, "ENOENT", "EACCES", "ENOTDIR")) return null;
    throw error;
  }
}

function configured(setting: string): string {
  return execFileSync("npm", ["config", "get", setting], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}
