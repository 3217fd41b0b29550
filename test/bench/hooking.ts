import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layOut } from "../../src/daemon/delivery/pieces.ts";
import { EVENT_PREFIX, TAKEN_PREFIX, hookCommand, hookScript } from "../../src/vendors/shared/hook-script.ts";
import type { Home } from "../support/home.ts";
import type { Row } from "./report.ts";
import { command, milliseconds, percentile, spreadOf, timed } from "./sampling.ts";

const ROUNDS = 60;
const WORD = "prompt";
const SESSION = "3f0c2a6e-5b1d-4c7e-9a42-0d6f1e8b7c35";
/** The event of a prompt, as claude tells it to its hook. */
const EVENT = JSON.stringify({
  session_id: SESSION,
  transcript_path: `/home/u/.claude/projects/-home-u-api/${SESSION}.jsonl`,
  cwd: "/home/u/api",
  permission_mode: "default",
  hook_event_name: "UserPromptSubmit",
  prompt: "please look at the build ".repeat(20),
});
const MAIL = `${JSON.stringify({ hookSpecificOutput: { additionalContext: "the build is red ".repeat(60) } })}\n`;

/** The hook of a prompt, as claude runs it, with and without mail that waits; in turn with an empty Node. */
export async function hooks(home: Home): Promise<Row[]> {
  const runDir = join(home.dir, "run");
  mkdirSync(runDir, { mode: 0o700 });
  writeFileSync(join(runDir, "hook"), hookScript(runDir).text);
  const node = command(process.execPath, ["-e", "0"], { cwd: home.project, env: home.env });
  const times = { node: [] as number[], without: [] as number[], with: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    times.node.push(timed(node));
    times.without.push(hook(home, runDir, ""));
    layOut(runDir, SESSION, { mark: "m-1", ids: ["a"], onlyAnnounced: {}, transcriptBytes: 0 }, { [WORD]: MAIL });
    times.with.push(hook(home, runDir, MAIL));
    // The daemon removes what hooks leave.
    for (const left of globSync([`${EVENT_PREFIX}*`, `${TAKEN_PREFIX}*`], { cwd: runDir })) {
      rmSync(join(runDir, left), { recursive: true });
    }
  }
  const floor = percentile(times.node, 0.5);
  const row = (what: string, values: number[], goal: number): Row => ({
    what,
    ours: milliseconds(percentile(values, 0.5)),
    floor: `${milliseconds(floor)} node -e 0`,
    value: percentile(values, 0.5) / floor,
    goal,
    spread: spreadOf(times.node),
  });
  return Promise.resolve([row("a hook without mail", times.without, 0.35), row("a hook with mail", times.with, 0.5)]);
}

/** The milliseconds of one hook; throws if it prints anything else. */
function hook(home: Home, runDir: string, printed: string): number {
  const options = { cwd: home.project, env: home.env, input: EVENT, encoding: "utf8" } as const;
  const since = performance.now();
  const { stdout, stderr, status } = spawnSync("/bin/sh", ["-c", hookCommand(runDir, WORD)], options);
  const took = performance.now() - since;
  if (status !== 0 || stdout !== printed) throw new Error(`the hook ended with ${status}: ${stdout}${stderr}`);
  return took;
}
