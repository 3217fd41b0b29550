import { Db } from "../../../src/store/db.ts";
import { check } from "../../support/check.ts";

/** The rows of a store, seen through a connection of our own that can only read. */
export class StoreRows {
  readonly #db: Db;
  readonly #ended = new Map<string, string>();

  constructor(file: string) {
    this.#db = new Db(file, { readOnly: true });
  }

  /** All rows that a claim, a release, an end or a message could change. */
  dump(): string {
    return ["workers", "runs", "epochs", "tombstones", "messages", "message_steps", "mailboxes"]
      .map((table) => this.#table(table))
      .join("\n");
  }

  /** Every row of every table. */
  everything(): string {
    const tables = this.#db.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    );
    return tables.map(({ name }) => this.#table(name)).join("\n");
  }

  checkEverything(before: string, what: () => string): void {
    const after = this.everything();
    check(after === before, () => `${what()}: rows changed:\n${difference(before, after)}`);
  }

  /** Rows that are there now and were not, or the other way round. */
  differences(before: string): number {
    return difference(before, this.everything()).split("\n").filter(Boolean).length;
  }

  checkSame(before: string): void {
    const after = this.dump();
    check(after === before, () => `rows changed:\n${difference(before, after)}`);
  }

  phase(name: string): string | undefined {
    return this.#db.one<{ lease_phase: string }>("SELECT lease_phase FROM workers WHERE name = ?", name)?.lease_phase;
  }

  /** Messages that nobody has acknowledged. */
  unread(): number {
    const row = this.#db.one<{ count: number }>("SELECT count(*) AS count FROM messages WHERE state <> 'read'");
    return row?.count ?? 0;
  }

  /** Messages there are. */
  messages(): number {
    return this.#db.one<{ count: number }>("SELECT count(*) AS count FROM messages")?.count ?? 0;
  }

  /** The run's end is recorded, once and for good. */
  remember(run: string): void {
    const row = this.#run(run);
    check(row.includes('"reason":"displaced"'), () => `the end of a displaced run reads ${row}`);
    this.#ended.set(run, row);
  }

  checkEnded(): void {
    for (const [run, row] of this.#ended) check(this.#run(run) === row, () => `${row} became ${this.#run(run)}`);
  }

  close(): void {
    this.#db.close();
  }

  #run(run: string): string {
    return JSON.stringify(this.#db.one("SELECT * FROM runs WHERE id = ?", run));
  }

  #table(table: string): string {
    return this.#db
      .all<object>(`SELECT * FROM "${table}" ORDER BY 1, 2`)
      .map((row) => `${table} ${JSON.stringify(row)}`)
      .join("\n");
  }
}

function difference(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ].join("\n");
}
