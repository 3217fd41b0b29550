import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** One connection with its prepared statements. Rows come out as the types their table's file declares. */
export class Db {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    this.#database = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: 1_000 });
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  one<Row>(sql: string, ...values: SQLInputValue[]): Row | null {
    return (this.#statement(sql).get(...values) as Row | undefined) ?? null;
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  /** Returns how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  get raw(): DatabaseSync {
    return this.#database;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
