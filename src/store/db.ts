import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { CACHED_ROWS_MAX, STORE_LOCK_WAIT_MS } from "../limits/index.ts";
import { Boxes } from "./mailbox-counters.ts";

interface Statement {
  prepared: StatementSync;
  /** The table it changes; null for one that changes none, ANY for one that cannot be told. */
  changes: string | null;
}

type Rows = Map<string | number, unknown>;

/** One connection with its prepared statements. Rows come out as the types their table's file declares. */
export class Db {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Statement>();
  /** By table, statement and values. */
  readonly #inMind = new Map<string, Map<string, Rows>>();
  readonly boxes = new Boxes(this);
  #changes = 0;

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    this.#database = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: STORE_LOCK_WAIT_MS });
  }

  exec(sql: string): void {
    this.forget();
    this.#database.exec(sql);
  }

  one<Row>(sql: string, ...values: SQLInputValue[]): Row | null {
    return (this.#statement(sql).get(...values) as Row | undefined) ?? null;
  }

  /**
   * The same for a row that is asked for again and again: kept in mind until a statement changes its table. This connection
   * is the only one that writes, so nobody else can.
   */
  oneInMind<Row>(table: string, sql: string, ...values: (string | number)[]): Readonly<Row> | null {
    const rows = this.#rowsOf(table, sql);
    const key = keyOf(values);
    const known = rows.get(key);
    if (known !== undefined) return known as Row | null;
    const row = this.one<object>(sql, ...values);
    if (row !== null) Object.freeze(row);
    if (rows.size >= CACHED_ROWS_MAX) rows.clear();
    rows.set(key, row);
    return row as Row | null;
  }

  /** What a statement would give now, known without asking. */
  bearInMind(table: string, sql: string, values: (string | number)[], row: object): void {
    this.#rowsOf(table, sql).set(keyOf(values), Object.freeze(row));
  }

  #rowsOf(table: string, sql: string): Rows {
    let statements = this.#inMind.get(table);
    if (statements === undefined) this.#inMind.set(table, (statements = new Map<string, Rows>()));
    let rows = statements.get(sql);
    if (rows === undefined) statements.set(sql, (rows = new Map<string | number, unknown>()));
    return rows;
  }

  /** What is kept in mind: a rollback makes untrue what was read since the transaction began. */
  forget(): void {
    this.#inMind.clear();
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

  /** Statements so far that change something. */
  get changes(): number {
    return this.#changes + this.boxes.length;
  }

  get raw(): DatabaseSync {
    return this.#database;
  }

  close(): void {
    this.#statements.clear();
    this.forget();
    this.#database.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = { prepared: this.#database.prepare(sql), changes: tableChangedBy(sql) };
      this.#statements.set(sql, statement);
    }
    if (statement.changes !== null) {
      if (statement.changes === ANY) this.forget();
      else this.#inMind.get(statement.changes)?.clear();
      this.#changes++;
    }
    return statement.prepared;
  }
}

const ANY = "*";

function tableChangedBy(sql: string): string | null {
  if (/^\s*(?:SELECT|PRAGMA|BEGIN|COMMIT|SAVEPOINT|RELEASE)\b/.test(sql)) return null;
  return /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/.exec(sql)?.[1] ?? ANY;
}

/** Of all values but the last, which alone can be any text, each is a number. */
function keyOf(values: (string | number)[]): string | number {
  return values.length === 1 ? (values[0] ?? "") : values.join(" ");
}
