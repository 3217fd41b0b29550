import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";

const GIBIBYTE = 1024 ** 3;
/** More links in a row than a kernel follows. */
const LINKS = 45;

/** Makes, at a path where a file is expected, something that is none, or none that can be read whole. */
export interface Thing {
  what: string;
  make(path: string): void | Promise<void>;
}

/** The file that nobody may read whole. */
export const LARGEST: Thing = { what: "a gibibyte", make: gibibyte };

/** The file that has no end. */
export const ENDLESS: Thing = { what: "/dev/zero", make: (path) => symlinkSync("/dev/zero", path) };

/** The fifo comes first: whoever opens one without care waits for ever, and that shows at once. */
export const THINGS: readonly Thing[] = [
  { what: "a fifo", make: fifo },
  { what: "a link to a fifo", make: linkToFifo },
  ENDLESS,
  LARGEST,
  { what: "a link to itself", make: (path) => symlinkSync(basename(path), path) },
  { what: "/dev/full", make: (path) => symlinkSync("/dev/full", path) },
  { what: "the terminal", make: (path) => symlinkSync("/dev/tty", path) },
  { what: "a new terminal", make: (path) => symlinkSync("/dev/ptmx", path) },
  { what: "a folder", make: (path) => mkdirSync(path) },
  { what: "a socket", make: socket },
  { what: "a chain of links", make: chain },
  { what: "a link to nothing", make: (path) => symlinkSync("/nonexistent/file", path) },
  { what: "a link to a folder", make: (path) => symlinkSync("/", path) },
  { what: "a link to memory", make: (path) => symlinkSync("/proc/self/mem", path) },
  { what: "endless kernel messages", make: (path) => symlinkSync("/proc/kmsg", path) },
];

/** Returns the files that `make` leaves beside the path itself. */
export function leftovers(path: string): string[] {
  return [`${path}.fifo`, `${path}.chain`, `${path}.bound`];
}

function fifo(path: string): void {
  execFileSync("mkfifo", [path]);
}

function linkToFifo(path: string): void {
  fifo(`${path}.fifo`);
  symlinkSync(`${basename(path)}.fifo`, path);
}

function gibibyte(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, GIBIBYTE);
}

function chain(path: string): void {
  const folder = `${path}.chain`;
  mkdirSync(folder);
  writeFileSync(join(folder, "0"), "");
  for (let link = 1; link <= LINKS; link++) symlinkSync(String(link - 1), join(folder, String(link)));
  symlinkSync(join(folder, String(LINKS)), path);
}

/** Nobody listens to it; Node removes its own socket on close, so that it is linked to its place meanwhile. */
async function socket(path: string): Promise<void> {
  const bound = join(dirname(dirname(path)), `s${process.pid}`);
  const server = createServer().listen(bound);
  await once(server, "listening");
  linkSync(bound, path);
  server.close();
  await once(server, "close");
}
