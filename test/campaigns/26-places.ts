import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "../../src/client/connect.ts";
import type { Home } from "../support/home.ts";
import type { InstalledPersona } from "../support/persona.ts";
import { projectRefOf } from "../support/send-params.ts";
import { ENDLESS, type Thing } from "./26-things.ts";

/** Everything that a place may need to know of the home it is in. */
export interface Scene {
  home: Home;
  personas: readonly InstalledPersona[];
  /** The transcripts of workers that were in a conversation, by worker. */
  transcripts: ReadonlyMap<string, string>;
  /** The context file that a caller without a name has. */
  anchor: string;
}

/** A place where perdure, or its daemon, looks for a file that somebody else may have made. */
export interface Place {
  what: string;
  path(scene: Scene): string;
  /** The files that have to be there besides, by path. */
  beside?(scene: Scene): Readonly<Record<string, string>>;
  /** The thing that is put there first; a fifo unless it says so. */
  first?: Thing;
  /** The daemon has git look at the repository after the command. */
  asksGit?: true;
  /** The command lines that come upon it. */
  commands(scene: Scene, path: string): string[][];
  /** Calls of the daemon that come upon it. */
  call?(client: Client, scene: Scene): Promise<unknown>;
}

const inProject =
  (...names: string[]) =>
  ({ home }: Scene): string =>
    join(home.project, ...names);
const inHomeFolder =
  (...names: string[]) =>
  ({ home }: Scene): string =>
    join(home.dir, ...names);
const START = ["run", "coder", "--", "true"];
const EVERYDAY = [["ls"], ["send", "coder", "hi"], ["whoami"], START];

export const PLACES: readonly Place[] = [
  {
    what: "perdure.toml",
    path: inProject("perdure.toml"),
    commands: () => [...EVERYDAY, ["up"], ["trust"], ["context", "path"], ["doctor"], ["drill"], ["down"]],
  },
  ...["refs/heads/main", "packed-refs", "shallow", "objects/info/alternates"].map((name): Place => {
    const inGit = (home: Home, file: string): string => join(home.project, ".git", file);
    return {
      what: `git's ${name}, which git itself reads`,
      asksGit: true,
      ...(name === "refs/heads/main" && { first: ENDLESS }),
      path: ({ home }) => inGit(home, name),
      beside: ({ home }) => ({
        [inGit(home, "HEAD")]: "ref: refs/heads/main\n",
        [inGit(home, "refs/heads/other")]: `${"1".repeat(40)}\n`,
        [inGit(home, "objects/info/kept")]: "",
      }),
      commands: () => [START],
    };
  }),
  { what: "the folder of git", path: inProject(".git"), commands: () => [...EVERYDAY, ["up"], ["context", "recover"]] },
  ...["HEAD", "config", "commondir", "worktrees"].map((name): Place => {
    return {
      what: `git's ${name}`,
      path: inProject(".git", name),
      beside: ({ home }) => (name === "HEAD" ? {} : { [join(home.project, ".git", "HEAD")]: "ref: refs/heads/main\n" }),
      commands: () => [["ls"], ["context", "recover"], ["send", "coder", "hi"]],
    };
  }),
  {
    what: "where .git leads",
    path: inHomeFolder("named", "commondir"),
    beside: ({ home }) => ({
      [join(home.project, ".git")]: `gitdir: ${join(home.dir, "named")}\n`,
      [join(home.dir, "named", "HEAD")]: "",
    }),
    commands: () => EVERYDAY,
  },
  {
    what: "a prompt",
    path: inProject("prompt.md"),
    beside: ({ home }) => ({
      [join(home.project, "perdure.toml")]: '[workers.x]\nvendor = "claude"\nprompt = "prompt.md"\n',
    }),
    commands: () => [["up"], ["trust"], ["doctor"], ["ls"]],
  },
  {
    what: "records",
    path: ({ home }) => join(home.project, "rec", "coder.session.json"),
    beside: ({ home }) => ({ [join(home.project, "perdure.toml")]: '[records]\ndir = "rec"\n' }),
    commands: () => [START, ["send", "coder", "hi"]],
  },
  {
    what: "the temporary name of a record",
    path: ({ home }) => join(home.project, "rec", `coder.session.json.${home.daemonPid()}.tmp`),
    beside: ({ home }) => ({ [join(home.project, "perdure.toml")]: '[records]\ndir = "rec"\n' }),
    commands: () => [START],
  },
  {
    what: "the user's config.toml",
    path: inHomeFolder(".config", "perdure", "config.toml"),
    commands: () => [["ls"], START, ["up"], ["whoami"]],
  },
  { what: "--file", path: inHomeFolder("text"), commands: (_, path) => [["send", "coder", "--file", path]] },
  { what: "--attach", path: inHomeFolder("kept"), commands: (_, path) => [["send", "coder", "x", "--attach", path]] },
  { what: "--restore", path: inHomeFolder("backup"), commands: (_, path) => [["daemon", "start", "--restore", path]] },
  { what: "a program", path: inHomeFolder("agent"), commands: (_, path) => [["run", "other", "--", path]] },
  {
    what: "a context file",
    path: ({ anchor }) => anchor,
    commands: () => [
      ["context", "log", "hi"],
      ["context", "recover"],
      ["context", "archive", "done"],
    ],
  },
  {
    what: "the folder of context files",
    path: ({ anchor }) => dirname(anchor),
    commands: () => [
      ["context", "log", "hi"],
      ["context", "recover"],
      ["context", "path"],
    ],
  },
  ...["claude", "codex"].flatMap((vendor): Place[] => [
    {
      what: `settings of ${vendor}`,
      path: inHomeFolder(`.${vendor}`, vendor === "codex" ? "config.toml" : "settings.json"),
      commands: () => [["run", `with-${vendor}`], ["doctor"], ["drill"]],
    },
    {
      what: `a transcript of ${vendor}`,
      path: ({ transcripts }) => transcripts.get(`with-${vendor}`) ?? "",
      commands: () => [["drill"], ["ls"], ["run", `with-${vendor}`], ["adopt"], ["history", `with-${vendor}`]],
      call: findConversations,
    },
    {
      what: `the folder of ${vendor}'s transcripts`,
      path: ({ transcripts }) => dirname(transcripts.get(`with-${vendor}`) ?? ""),
      commands: () => [["drill"], ["adopt"], ["ls"]],
      call: findConversations,
    },
  ]),
  {
    what: "gemini's settings",
    path: inHomeFolder(".gemini", "settings.json"),
    commands: () => [["run", "gem", "--", "gemini", "--version"], ["adopt"]],
    call: findConversations,
  },
];

/** The places in a run's folder, where its agent can put anything: found by the daemon, when the run goes on or ends. */
export function placesOfRun(home: Home): string[] {
  const daemon = home.daemonPid();
  return ["exit", "event.7.0", "event.8.0", "screen", "displaced", `displaced.${daemon}.tmp`, "start", "server.json"];
}

/** The folder of the newest run. */
export function newestRunFolder(home: Home, run: string): string {
  const folder = join(home.state, "runs");
  return join(folder, readdirSync(folder).find((name) => name.startsWith(run)) ?? "none");
}

export function writeBeside(files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

async function findConversations(client: Client, { home }: Scene): Promise<unknown> {
  const environment = { HOME: home.dir, PATH: home.env.PATH ?? "" };
  await client.collect("findConversations", { vendor: null, cwd: home.project, environment });
  return client.collect("drill", { here: projectRefOf(home), project: null, all: true, targets: [] });
}
