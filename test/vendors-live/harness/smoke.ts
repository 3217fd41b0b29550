// A smoke test of the harness: drives the vendors' programs without perdure:
//   node test/vendors-live/harness/smoke.ts [name...]     (all when none is named)
// Each asks and resumes without a terminal, then in one, killed in between; the model's log proves the history.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { startModel, type Model, type ModelRequest } from "../model/index.ts";
import { Tmux } from "../../terminal/tmux.ts";
import { headlessCommand, interactiveCommand, runIn } from "./commands.ts";
import { VendorHome } from "./homes.ts";
import { isIsolated, isolated } from "./namespace.ts";
import { binFolder, VENDOR_NAMES, type VendorName } from "./pins.ts";
import { Terminal } from "./terminal.ts";
import type { Vendor } from "./vendor.ts";
import { VENDORS } from "./vendors/index.ts";

const AT_ONCE = 2;

interface SmokeSetup {
  model: Model;
  home: VendorHome;
  vendor: Vendor;
}

type Row = Record<string, number | string>;

const asked = (process.argv.length > 2 ? process.argv.slice(2) : VENDOR_NAMES) as VendorName[];
process.exitCode = isIsolated() ? await main(asked) : await enter(asked);

async function enter(names: readonly VendorName[]): Promise<number> {
  const missing = names.filter((name) => !(name in VENDORS && existsSync(binFolder(name))));
  if (missing.length === 0) return isolated([process.execPath, import.meta.filename, ...names]);
  console.error(`not installed: ${missing.join(", ")}\n  → node scripts/vendors.js ${missing.join(" ")}`);
  return 1;
}

async function main(names: readonly VendorName[]): Promise<number> {
  const rows: Record<string, Row> = {};
  const queue = [...names];
  const work = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) rows[name] = await smoke(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  console.table(Object.fromEntries(names.map((name) => [name, rows[name]])));
  return Object.values(rows).every(({ result }) => result === "ok") ? 0 : 1;
}

async function smoke(name: VendorName): Promise<Row> {
  const model = await startModel();
  const home = new VendorHome(model, [name]);
  const row: Row = {};
  try {
    await headless({ model, home, vendor: VENDORS[name] }, row);
    await interactive({ model, home, vendor: VENDORS[name] }, row);
    row.result = "ok";
  } catch (error) {
    row.result = "FAILED";
    console.error(name, error);
  } finally {
    await home.clear();
    await model.close();
  }
  return row;
}

async function headless({ model, home, vendor }: SmokeSetup, row: Row): Promise<void> {
  const ask = async (what: string, session: readonly string[], turns: string[]): Promise<ModelRequest> => {
    const since = performance.now();
    const { code, stdout, stderr } = await runIn(home, headlessCommand(vendor, session, turns.at(-1) ?? ""));
    row[what] = Math.round(performance.now() - since);
    if (code !== 0) throw new Error(`${what} ended with ${code}: ${stdout}${stderr}`);
    return model.until(saw(turns), { timeoutMs: 0 });
  };
  const id = randomUUID();
  const first = await ask("new", vendor.session.begin?.(id) ?? [], ["headless one"]);
  await ask("resumed", vendor.session.resume(sessionOf(vendor, first) ?? id), ["headless one", "headless two"]);
}

async function interactive({ model, home, vendor }: SmokeSetup, row: Row): Promise<void> {
  const tmux = await Tmux.start(home);
  const open = async (what: string, session: readonly string[], turns: string[]): Promise<ModelRequest> => {
    const since = performance.now();
    const terminal = await Terminal.open(tmux, vendor, interactiveCommand(vendor, session));
    if (turns.length > 1) await terminal.shows(turns[0] ?? "");
    await terminal.ready();
    row[`${what} ready`] = Math.round(performance.now() - since);
    await terminal.prompt(turns.at(-1) ?? "");
    const request = await model.until(saw(turns));
    await terminal.until("the answer on disk", () => home.hasWritten(`turns=${turns.length} first=${turns[0]} `));
    await terminal.ready();
    await terminal.kill();
    row[`${what} killed`] = Math.round(performance.now() - since);
    return request;
  };
  const id = randomUUID();
  const first = await open("TUI", vendor.session.begin?.(id) ?? [], ["terminal one"]);
  await open("TUI again", vendor.session.resume(sessionOf(vendor, first) ?? id), ["terminal one", "terminal two"]);
  await tmux.stop();
}

function saw(turns: readonly string[]): (request: ModelRequest) => boolean {
  return (request) => !request.auxiliary && request.turns.join("\n") === turns.join("\n");
}

function sessionOf({ session }: Vendor, { identity }: ModelRequest): string | undefined {
  return session.header === null ? undefined : identity[session.header];
}
