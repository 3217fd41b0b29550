// A program started by perdure finds what a plain shell's child finds: signals, descriptors, limits, terminal.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Home } from "../support/home.ts";
import { Shell } from "./shell.ts";
import { Tmux, until } from "./tmux.ts";
import { Worker } from "./worker.ts";

const home = new Home();
let tmux: Tmux;
let shell: Shell;

beforeAll(async () => {
  tmux = await Tmux.start(home);
  shell = await Shell.start(tmux, home, { PROBE });
});

afterAll(async () => {
  try {
    await tmux.stop();
  } finally {
    await home.clear();
  }
});

/** Tells of the process it runs in, into the file $1, so that its own output stays what it was given. */
const PROBE = `
exec 4>"$1.tmp"
while read -r k v; do case $k in SigIgn:|SigBlk:|SigPnd:) echo "$k $v" >&4;; esac; done < /proc/$$/status
for n in 0 1 2; do
  echo "fd $n" $(grep flags /proc/$$/fdinfo/$n) $(readlink /proc/$$/fd/$n) >&4
done
ls /proc/$$/fd >&4
read -r x < /proc/$$/stat; set -- "$1" \${x##*) }
[ "$4" = "$7" ] && echo "in the foreground" >&4
echo "umask $(umask) nice $(nice)" >&4; ulimit -a >&4
mv "$1.tmp" "$1"`;

/** A shell line; `run` stands for the probe, with or without perdure before it. */
const CALLERS: { what: string; line: (run: string) => string }[] = [
  { what: "a terminal", line: (run) => run },
  { what: "pipes", line: (run) => `true | ${run} | cat` },
  { what: "/dev/null", line: (run) => `${run} </dev/null >/dev/null 2>&1` },
  { what: "the background", line: (run) => `${run} & wait $!` },
  {
    what: "the background of a shell without job control",
    line: (run) => `bash --norc -c '"$@" & wait $!' bash ${run}`,
  },
  { what: "nohup", line: (run) => `nohup ${run} >/dev/null 2>&1` },
  { what: "ignored signals", line: (run) => `(trap '' INT QUIT TERM HUP PIPE XFSZ; exec ${run})` },
  { what: "limits of its own", line: (run) => `(umask 027; ulimit -S -c 0; exec nice -n 3 ${run})` },
];

const LOST: typeof CALLERS = [
  // become.ts knows six signals, and Node resets them all.
  { what: "other ignored signals", line: (run) => `(trap '' USR1 ALRM TSTP TTOU; exec ${run})` },
  // Node raises its soft limit to the hard one, and the program inherits that.
  { what: "a limit of open files", line: (run) => `(ulimit -S -n 200; exec ${run})` },
];

let probes = 0;

async function probe(line: (run: string) => string, before: string): Promise<string[]> {
  const file = join(home.dir, `probe-${++probes}`);
  await shell.pane.line(line(`${before} sh -c "$PROBE" probe ${file}`));
  await until(
    file,
    () => (existsSync(file) ? true : null),
    () => shell.pane.screen(),
  );
  await shell.status();
  // Every pipe has a number of its own. Node's net module opens a terminal on fd 2 again: the same file, the same mode
  // and still blocking, but with O_LARGEFILE set.
  const text = readFileSync(file, "utf8")
    .replace(/pipe:\[\d+\]/g, "pipe")
    .replace("fd 2 flags: 0100002", "fd 2 flags: 02");
  return text.trim().split("\n");
}

test.for([...CALLERS, ...LOST])("as a plain child: $what", async ({ line }) => {
  const { plain, named } = await both(line);
  expect(named).toContain(RUN_FIFO);
  expect(named.filter((told) => told !== RUN_FIFO)).toEqual(plain);
});

/** The one descriptor more that a program has: the fifo of its run, which tells other pid namespaces that it lives. */
const RUN_FIFO = "9";

async function both(line: (run: string) => string): Promise<{ plain: string[]; named: string[] }> {
  const plain = await probe(line, "");
  const worker = new Worker(home, "probe");
  const named = await probe(line, `$P run ${worker.name} --`);
  await worker.ended();
  return { plain, named };
}

test("a run in the background ends with its code and is not stopped for the terminal", async () => {
  const worker = new Worker(home, "back");
  await shell.run(`stty tostop; $P run ${worker.name} -- sh -c 'exit 3' &`);
  expect(await shell.run("wait $!")).toBe(3);
  await shell.run("stty -tostop");
  expect(await worker.ended()).toMatchObject({ exit: 3, reason: "exited" });
});

test("a run that is stopped and killed in the background leaves the terminal alone", async () => {
  const worker = new Worker(home, "back");
  await shell.pane.line(`$P run ${worker.name} -- sleep 1000`);
  const sleep = await worker.program(/^sleep$/);
  await shell.pane.keys("C-z");
  expect(await shell.status()).toBe(148);
  await shell.run("bg");
  await worker.is("running", sleep);
  process.kill(sleep.pid, "SIGKILL");
  expect(await shell.run("wait %%")).toBe(137);
  expect(await worker.ended()).toMatchObject({ exit: 137, reason: "SIGKILL" });
});

test("under nohup a hang-up reaches neither the wrapper nor the program", async () => {
  const worker = new Worker(home, "nohup");
  await shell.run(`nohup $P run ${worker.name} -- sleep 1000 >/dev/null 2>&1 &`);
  const sleep = await worker.program(/^sleep$/);
  process.kill((await worker.wrapper()).pid, "SIGHUP");
  process.kill(sleep.pid, "SIGHUP");
  process.kill((await worker.wrapper()).pid, "SIGTERM");
  expect(await worker.ended()).toMatchObject({ exit: 143, reason: "SIGTERM" });
});

test("a closed pipe ends the run by SIGPIPE", async () => {
  const worker = new Worker(home, "yes");
  expect(await shell.run(`set -o pipefail; $P run ${worker.name} -- yes | head -1`)).toBe(141);
  expect(await worker.ended()).toMatchObject({ exit: 141, reason: "SIGPIPE" });
});

test("a run that fails before a pager leaves the screen to the pager", async () => {
  const worker = new Worker(home, "paged");
  const go = join(home.dir, "go");
  await shell.pane.line(
    `$P run ${worker.name} -- sh -c 'echo text; while [ ! -e ${go} ]; do sleep 0.02; done; exit 3' | less`,
  );
  await shell.pane.shows(/^text$/m);
  writeFileSync(go, "");
  expect(await worker.ended()).toMatchObject({ exit: 3, reason: "exited" });
  await shell.pane.shows(/\(END\)/);
  expect(await shell.pane.modes()).toMatchObject({ alternate: true });
  await shell.pane.keys("q");
  expect(await shell.status()).toBe(3);
});
