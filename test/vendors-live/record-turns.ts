// Records what the vendors' real programs print in a turn, as fixtures of their adapters:
//   node test/vendors-live/record-turns.ts claude [case...]     (all cases when none is named)
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Variables } from "../../src/protocol/records/conversation.ts";
import type { Environment } from "../../src/util/environment.ts";
import { adapterOf, type Adapter } from "../../src/vendors/index.ts";
import { VendorHome } from "./harness/homes.ts";
import { isIsolated, isolated } from "./harness/namespace.ts";
import type { VendorName } from "./harness/pins.ts";
import { VENDORS } from "./harness/vendors/index.ts";
import { startModel, type Model } from "./model/index.ts";
import { TRAITS } from "./traits.ts";

/** A turn to record: what is said, with which arguments and variables, and what befalls it. */
interface Recorded {
  prompt: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
  /** The signal to the program's group while its model is asked. */
  signal?: NodeJS.Signals;
}

const DEADLINE_MS = 120_000;

/** The variables with the keys of the test bed. */
const LOGINS = Object.fromEntries(
  [
    "ANTHROPIC_API_KEY",
    "FAKE_KEY",
    "GEMINI_API_KEY",
    "OPENAI_API_KEY",
    "COPILOT_OFFLINE",
    "COPILOT_PROVIDER_BASE_URL",
  ].map((each) => [each, undefined]),
);

const [name = "", ...names] = process.argv.slice(2);
process.exitCode = isIsolated() ? await main(name as VendorName) : await enter();

function enter(): Promise<number> {
  return isolated([process.execPath, import.meta.filename, ...process.argv.slice(2)]);
}

async function main(vendor: VendorName): Promise<number> {
  const adapter = adapterOf(vendor);
  if (!adapter?.turn) throw new Error(`${vendor} has no turn facet`);
  const cases = Object.entries(casesOf(vendor)).filter(([each]) => names.length === 0 || names.includes(each));
  for (const [each, recorded] of cases) {
    const since = performance.now();
    const { stdout, stderr, exit, requests } = await record(vendor, adapter, recorded);
    const folder = resolve(import.meta.dirname, "../../src/vendors", vendor, "fixtures", "turns");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${each}.jsonl`), stdout);
    const row = { turn: each, exit, stderr, ms: Math.round(performance.now() - since), requests };
    console.log(JSON.stringify(row));
  }
  return 0;
}

function casesOf(vendor: VendorName): Record<string, Recorded> {
  const traits = TRAITS[vendor];
  if (!traits) throw new Error(`no traits of ${vendor}`);
  const { shell } = traits;
  const said = (words: string): string => `Message m-1 from operator:\n\n${words}\n`;
  const tool = said(`use it [[before I will look.]] ${shell.call("echo seen-by-tool")}`);
  return {
    answer: { prompt: said("hello") },
    tool: { prompt: tool, args: shell.args.headless },
    denied: { prompt: said(`write it [[before I will write.]] ${shell.call("touch written")}`) },
    empty: { prompt: said("[[empty]]") },
    "empty-after-tool": { prompt: `${tool} [[empty]]`, args: shell.args.headless },
    401: { prompt: said("[[fail 401 authentication_error]]") },
    429: { prompt: said("[[fail 429 rate_limit_error]]") },
    500: { prompt: said("[[fail 500 api_error]]") },
    "no-login": { prompt: said("hello"), env: LOGINS },
    terminated: { prompt: said("[[hold]]"), signal: "SIGTERM" },
    interrupted: { prompt: said("[[hold]]"), signal: "SIGINT" },
    killed: { prompt: said("[[hold]]"), signal: "SIGKILL" },
    clear: { prompt: "/clear" },
    mention: { prompt: said("@/etc/passwd") },
  };
}

async function record(
  vendor: VendorName,
  adapter: Adapter,
  recorded: Recorded,
): Promise<{ stdout: string; stderr: string; exit: number | string | null; requests: number }> {
  const model = await startModel();
  const home = new VendorHome(model, [vendor]);
  try {
    const exit = await play(vendor, adapter, recorded, model, home);
    const read = (file: string): string => anonymous(readFileSync(join(home.dir, file), "utf8"), home, model);
    const requests = model.requests.filter(({ auxiliary }) => !auxiliary).length;
    return { stdout: read("out"), stderr: read("err").trim().slice(-2_000), exit, requests };
  } finally {
    await home.clear();
    await model.close();
  }
}

/** Two turns in one conversation, of which the second is recorded. */
async function play(
  vendor: VendorName,
  adapter: Adapter,
  { prompt, args = [], env = {}, signal }: Recorded,
  model: Model,
  home: VendorHome,
): Promise<number | string | null> {
  const environment = { ...home.env, ...given(adapter.turn?.variables) };
  const cwd = realpathSync(home.project);
  const { identity } = adapter.launch;
  const words = [...VENDORS[vendor].interactive.before, ...args];
  const minting = { command: adapter.command, args: words, name: "w", cwd, environment, from: null };
  const session = identity.kind === "assigned" ? identity.choose() : await identity.mint(minting);
  const begin = start(
    home,
    adapter,
    environment,
    { session, args: words, cwd },
    "Message m-0 from operator:\n\nfirst\n",
  );
  await once(begin, "exit");
  const transcript = await adapter.storage.probe(
    { vendor, id: session, configDir: adapter.storage.configDirOf(environment).dir, launchCwd: cwd },
    null,
    () => Promise.reject(new Error("not asked")),
  );
  const file = "file" in transcript && typeof transcript.file === "string" ? transcript.file : null;
  const child = start(
    home,
    adapter,
    { ...environment, ...env },
    { session, args: words, cwd, resumed: { file } },
    prompt,
  );
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), DEADLINE_MS);
  if (signal !== undefined) {
    await model.until(({ turns }) => turns.some((each) => each.includes("[[hold]]")));
    process.kill(-(child.pid ?? 0), signal);
  }
  const [code, killed] = await ended;
  clearTimeout(timer);
  return code ?? killed;
}

/** Returns the variables that have a value. */
function given(variables: Variables = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
}

function start(
  home: VendorHome,
  adapter: Adapter,
  environment: Environment,
  of: { session: string; args: readonly string[]; cwd: string; resumed?: { file: string | null } },
  prompt: string,
): ChildProcess {
  const runDir = mkdtempSync(join(home.dir, "run-"));
  const { dir: configDir } = adapter.storage.configDirOf(environment);
  const plan = adapter.launch.plan({
    step: of.resumed ? "resume" : "new",
    from: null,
    session: of.session,
    name: "w",
    args: adapter.turn?.args(of.args, runDir) ?? [],
    cwd: of.cwd,
    prompt: null,
    runDir,
    configDir,
    declared: null,
    transcript: of.resumed?.file ?? null,
    environment,
  });
  for (const { name: file, text } of plan.files) {
    mkdirSync(dirname(join(runDir, file)), { recursive: true });
    writeFileSync(join(runDir, file), text);
  }
  writeFileSync(join(home.dir, "prompt"), prompt);
  const files = [openSync(join(home.dir, "prompt"), "r"), openSync(join(home.dir, "out"), "w")];
  const stdio = [...files, openSync(join(home.dir, "err"), "w")];
  const env = { ...environment, ...given(plan.variables) };
  const [program = "", ...before] = adapter.command;
  return spawn(program, [...before, ...plan.args], { cwd: of.cwd, env, stdio, detached: true });
}

/** Replaces what differs with every recording. */
function anonymous(text: string, home: VendorHome, model: Model): string {
  const { host } = new URL(model.url);
  return text.replaceAll(home.dir, "/home/u").replaceAll(host, "127.0.0.1:1");
}
