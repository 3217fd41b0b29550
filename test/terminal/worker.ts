import type { History, RunRecord } from "../../src/protocol/records/run.ts";
import { processTable, type ProcessInfo } from "../../src/runtime/process/index.ts";
import type { Home } from "../support/home.ts";
import { until } from "./tmux.ts";

const table = processTable();
let workers = 0;

/** A worker seen from outside: by the environment its processes carry, and by what `history` tells of it. */
export class Worker {
  readonly #home: Home;
  readonly name: string;

  /** The name is used once on this machine, so that it is enough to know the processes by. */
  constructor(home: Home, kind: string) {
    this.#home = home;
    this.name = `${kind}-${process.pid}-${++workers}`;
  }

  processes(): ProcessInfo[] {
    return table.withVariable("PERDURE_NAME", this.name);
  }

  /** The shell that stays beside the program: the one whose parent is not of this run. */
  async wrapper(): Promise<ProcessInfo> {
    return until(`the wrapper of ${this.name}`, () => {
      const all = this.processes();
      return all.find((each) => all.every(({ pid }) => pid !== each.parentPid)) ?? null;
    });
  }

  /** The wrapper's child once it has become the program. */
  async program(command: RegExp): Promise<ProcessInfo> {
    const wrapper = await this.wrapper();
    const look = (): ProcessInfo | null =>
      this.processes().find((each) => each.parentPid === wrapper.pid && command.test(each.command)) ?? null;
    return until(`${String(command)} of ${this.name}`, look);
  }

  async is(what: "suspended" | "running", process: ProcessInfo): Promise<void> {
    await until(`${process.command} ${what}`, () =>
      table.inspect(process.pid)?.suspended === (what === "suspended") ? true : null,
    );
  }

  /** The last run, once its end is written down. */
  async ended(): Promise<RunRecord> {
    return until(`the end of ${this.name} in history`, async () => {
      const { runs } = await this.#home.json<Partial<History>>(["history", this.name]);
      const [run] = runs ?? [];
      return run && run.endedAt !== null ? run : null;
    });
  }

  async gone(process: ProcessInfo): Promise<void> {
    await until(`the end of ${process.command}`, () =>
      table.inspect(process.pid)?.startedAt === process.startedAt ? null : true,
    );
  }
}
