import { spawn } from "node:child_process";
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { campaign, seeded } from "../support/campaign.ts";
import { BIN, finish, type Finished, type Home } from "../support/home.ts";
import { NOBODY, PLANTED } from "./19-planted-state-folders.ts";
import { check } from "../support/check.ts";
import { inHome } from "../support/in-home.ts";
import { entriesBelow } from "../support/tree.ts";

interface Size {
  rounds: number;
}

const DAEMON = resolve(dirname(BIN), "../dist/daemon.cjs");
const CONNECT = `const s = require("node:net").connect(process.argv[1]);
s.on("connect", () => { console.log("connected"); s.destroy(); }).on("error", (e) => console.log(e.code));`;

export const otherUsers = campaign<Size>({
  number: 19,
  promise: "other users are refused",
  reduced: { rounds: 1 },
  full: { rounds: 20 },
  async run({ rounds }, seed) {
    if (process.getuid?.() !== 0) {
      process.stderr.write("campaign 19 is skipped: becoming another user takes root\n");
      return { skipped: 1 };
    }
    const random = seeded(seed);
    const tally = { strangersRefused: 0, plantedRefused: 0, modesChecked: 0 };
    for (let round = 0; round < rounds; round++) {
      await inOpenFolder((state, home) => refuseStrangers(state, home, tally));
      await inOpenFolder((state, home) => keepModes(state, home, tally));
      for (const plant of PLANTED.toSorted(() => random() - 0.5)) {
        await inOpenFolder((state, home) => refusePlanted(state, home, plant, tally));
      }
    }
    return { rounds, ...tally, accepted: 0 };
  },
});

type Tally = Record<"strangersRefused" | "plantedRefused" | "modesChecked", number>;

/** A state folder that others can at least get near to: its own mode is then what keeps them out. */
async function inOpenFolder(play: (state: string, home: Home) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "perdure-open-"));
  chmodSync(folder, 0o755);
  const state = join(folder, "near", "state");
  mkdirSync(dirname(state));
  try {
    await inHome((home) => playAndStop(state, home, play), { PERDURE_HOME: state });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The home clears its own state folder; the daemon of this one is ours to stop. */
async function playAndStop(
  state: string,
  home: Home,
  play: (state: string, home: Home) => Promise<void>,
): Promise<void> {
  try {
    await play(state, home);
  } finally {
    await home.perdure(["daemon", "stop"]);
  }
}

async function refuseStrangers(state: string, home: Home, tally: Tally): Promise<void> {
  await home.perdure(["run", "coder", "--", "true"]);
  const socket = join(state, "perdure.sock");
  const nearby = await asNobody(["-e", CONNECT, join(state, "..", "nothing")]);
  if (nearby.stdout !== "ENOENT\n") {
    process.stderr.write(`campaign 19: the stranger's part is skipped, another user cannot run ${process.execPath}\n`);
    return;
  }
  const before = fingerprint(state);
  const refused = async (what: string): Promise<void> => {
    const { stdout } = await asNobody(["-e", CONNECT, socket]);
    check(stdout === "EACCES\n", `${what}: a stranger's connect said ${stdout}`);
    tally.strangersRefused++;
  };
  await refused("closed folder");
  // The second wall: even in a folder that somebody opened by mistake, the socket is closed.
  chmodSync(state, 0o755);
  const own = await refused("open folder")
    .then(() => home.perdure(["ls", "--json"]))
    .finally(() => chmodSync(state, 0o700));
  check(own.code === 5 && own.stdout.includes('"unsafe"'), () => `ls in an opened folder: ${JSON.stringify(own)}`);
  // A copy, because the repository may lie where strangers cannot read.
  const copy = join(dirname(state), "dist");
  cpSync(dirname(DAEMON), copy, { recursive: true });
  const command = await asNobody([join(copy, "cli.cjs"), "ls", "--json"], {
    PERDURE_HOME: state,
    HOME: "/nonexistent",
  });
  check(command.code === 5 && command.stdout.includes('"unsafe"'), () => `a stranger's ls: ${JSON.stringify(command)}`);
  tally.strangersRefused++;
  check(fingerprint(state) === before, "a stranger changed something");
}

function asNobody(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  return finish(
    spawn("setpriv", [...user, process.execPath, ...args], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
}

/** Checks the modes with umask 000: a file made without an explicit mode would be open to everybody. */
async function keepModes(state: string, home: Home, tally: Tally): Promise<void> {
  const script =
    'umask 000; "$0" run coder -- true && "$0" run coder -- false; "$0" whoami; "$0" takeover coder; "$0" ls';
  const { stderr } = await finish(
    spawn("sh", ["-c", script, BIN], { cwd: home.project, env: home.env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  const open = entriesBelow(state).filter((path) => (lstatSync(path).mode & 0o077) !== 0);
  check(open.length === 0, () => `open to others after umask 000: ${open.map(describe).join(", ")}`);
  const all = entriesBelow(state);
  check(all.length > 5, `only ${all.length} entries in the state folder: ${stderr}`);
  check((lstatSync(state).mode & 0o777) === 0o700, "the state folder itself is open");
  tally.modesChecked += all.length;
}

async function refusePlanted(
  state: string,
  home: Home,
  { what, plant }: (typeof PLANTED)[number],
  tally: Tally,
): Promise<void> {
  const remove = await plant(state, home);
  try {
    const around = dirname(dirname(state));
    const before = fingerprint(around) + fingerprint(home.dir);
    const command = await home.perdure(["ls", "--json"]);
    check(
      command.code === 5 && command.stdout.includes('"unsafe"'),
      () => `${what}: ls said ${JSON.stringify(command)}`,
    );
    const daemon = await finish(
      spawn(process.execPath, [DAEMON], { cwd: "/", env: home.env, stdio: ["ignore", "pipe", "pipe"] }),
    );
    check(
      daemon.code === 5 && daemon.stdout.includes('"unsafe"'),
      () => `${what}: the daemon said ${JSON.stringify(daemon)}`,
    );
    check(fingerprint(around) + fingerprint(home.dir) === before, `${what}: something was changed`);
    tally.plantedRefused++;
  } finally {
    remove();
  }
}

function fingerprint(folder: string): string {
  return [folder, ...entriesBelow(folder)].map(describe).join("\n");
}

function describe(path: string): string {
  const { mode, uid, gid } = lstatSync(path);
  return `${path} ${mode.toString(8)} ${uid}:${gid}`;
}
