// Installs the vendors' programs the tests drive, at pinned versions, to a cache all clones share.
//   node scripts/vendors.js [name...]     (all when none is named)
// An install is made aside and renamed into place: what is there is whole, and of two at once the first wins.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmod, copyFile, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { binFolder, CACHE, PINS, VENDOR_NAMES } from "../test/vendors-live/harness/pins.ts";

const AT_ONCE = 2;
const ABANDONED_AFTER_MS = 3_600_000;
const NODE = join(CACHE, `node@${process.versions.node}`);

const asked = process.argv.length > 2 ? process.argv.slice(2) : VENDOR_NAMES;
const unknown = asked.filter((name) => !VENDOR_NAMES.includes(name));
if (unknown.length > 0) fail(`no such vendor: ${unknown.join(", ")}; known: ${VENDOR_NAMES.join(", ")}`);
if (Number(process.versions.node.split(".")[0]) < 24)
  fail("run this with Node 24: node_modules/.bin/node scripts/vendors.js");

await mkdir(CACHE, { recursive: true });
await sweep();
await place(NODE, copyNode);
const queue = [...new Set(asked)];
await Promise.all(Array.from({ length: AT_ONCE }, work));

async function work() {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    console.log(`${name} ${PINS[name].version}: ${await installed(name)}`);
  }
}

/** One that fails leaves the others alone. */
async function installed(name) {
  const since = performance.now();
  try {
    const made = await place(dirname(binFolder(name)), (folder) => install(name, folder));
    return made ? `installed in ${((performance.now() - since) / 1000).toFixed(1)} s` : "there";
  } catch (error) {
    process.exitCode = 1;
    return `not installed: ${error.message}`;
  }
}

/** False when it was there already, or somebody else was faster. */
async function place(folder, make) {
  if (await exists(folder)) return false;
  const aside = `${folder}.${randomUUID()}.tmp`;
  try {
    await mkdir(join(aside, "bin"), { recursive: true });
    await make(aside);
    await rename(aside, folder);
    return true;
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (await exists(folder)) return false;
    throw error;
  }
}

async function install(name, folder) {
  const pin = PINS[name];
  if (pin.unpacked === undefined) {
    await npmInstall(folder, pin.package);
  } else {
    await run("npm", ["pack", "--silent", "--pack-destination", folder, pin.package], folder);
    const [archive] = (await readdir(folder)).filter((file) => file.endsWith(".tgz"));
    await run("tar", ["xzf", archive], folder);
    await rm(join(folder, archive));
    await npmInstall(folder, pin.unpacked);
  }
  const program = join(folder, pin.program);
  await chmod(program, 0o755);
  await symlink(join("..", pin.program), join(folder, "bin", name));
  // Beside the program, so that its `env node` finds this one first, whatever else is on PATH after it.
  if (pin.node) await symlink(join(relative(binFolder(name), NODE), "bin", "node"), join(folder, "bin", "node"));
}

/** No install scripts: not one of these programs needs any, and they would run with the rights of whoever tests. */
async function npmInstall(folder, spec) {
  const flags = ["--ignore-scripts", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", "--prefix", folder, ...flags, spec], folder);
}

async function copyNode(folder) {
  await copyFile(process.execPath, join(folder, "bin", "node"));
  await chmod(join(folder, "bin", "node"), 0o755);
}

/** Removes the remains of an install that was killed; a younger one may still be at work. */
async function sweep() {
  for (const entry of await readdir(CACHE)) {
    if (!entry.endsWith(".tmp")) continue;
    const { mtimeMs } = await stat(join(CACHE, entry)).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) await rm(join(CACHE, entry), { recursive: true, force: true });
  }
}

async function run(program, args, cwd) {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk) => (said += chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${said}`);
}

async function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function fail(message) {
  console.error(`vendors: ${message}`);
  process.exit(1);
}
