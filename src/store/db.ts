import { backup, constants, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { CACHED_ROWS_MAX, STORE_LOCK_WAIT_MS } from "../limits/index.ts";
import { MailboxCounters } from "./mailbox-counters.ts";

interface Statement {
  prepared: StatementSync;
  /** The cached rows of each table it changes, by triggers and foreign keys, too, as SQLite said when it was prepared. */
  outdates: readonly CachedRows[][];
  /** The statement undoes what others did, or alters the tables themselves. */
  changesAnything: boolean;
}

interface Touched {
  reads: Set<string>;
  changes: Set<string>;
  changesAnything: boolean;
}

type CachedRows = Map<string | number, unknown>;

/** One connection with its prepared statements. Rows come out as the types their table's file declares. */
export class Db {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Statement>();
  readonly #cache = new Map<string, CachedRows>();
  /** The cached rows of all statements that read a table, by its name. */
  readonly #cachedOf = new Map<string, CachedRows[]>();
  readonly mailboxCounters = new MailboxCounters(this);
  #changes = 0;
  /** The tables that the statement touches which is being prepared. */
  #preparing: Touched | null = null;

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    this.#database = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: STORE_LOCK_WAIT_MS });
    this.#database.setAuthorizer((action, first) => this.#notice(action, first));
  }

  exec(sql: string): void {
    this.dropCache();
    this.#changes++;
    this.#database.exec(sql);
  }

  one<Row>(sql: string, ...values: SQLInputValue[]): Row | null {
    return (this.#statement(sql).get(...values) as Row | undefined) ?? null;
  }

  /**
   * Like `one`, for a row that is asked for again and again, as `map` makes it: cached until a statement changes a table that it was
   * read from. This connection is the only one that writes, so nobody else can. The value is frozen: all who ask share it.
   */
  cachedOne<Columns, Value extends object>(
    map: (columns: Columns) => Value,
    sql: string,
    ...values: (string | number)[]
  ): Readonly<Value> | null {
    const rows = this.#cachedRows(sql);
    const key = keyOf(values);
    const known = rows.get(key);
    if (known !== undefined) return known as Value | null;
    const columns = this.one<Columns>(sql, ...values);
    const value = columns === null ? null : Object.freeze(map(columns));
    if (rows.size >= CACHED_ROWS_MAX) rows.clear();
    rows.set(key, value);
    return value;
  }

  /** Puts into the cache what a statement would give now, known without asking. */
  primeCache(sql: string, values: (string | number)[], row: object): void {
    this.#cachedRows(sql).set(keyOf(values), Object.freeze(row));
  }

  #cachedRows(sql: string): CachedRows {
    let rows = this.#cache.get(sql);
    if (rows !== undefined) return rows;
    const { reads, changes } = this.#prepare(sql).touched;
    if (reads.size === 0 || changes.size > 0) throw new Error(`not to be cached: ${sql}`);
    this.#cache.set(sql, (rows = new Map<string | number, unknown>()));
    for (const table of reads) this.#cachedRowsOf(table).push(rows);
    return rows;
  }

  #cachedRowsOf(table: string): CachedRows[] {
    let all = this.#cachedOf.get(table);
    if (all === undefined) this.#cachedOf.set(table, (all = []));
    return all;
  }

  /** A rollback makes untrue what was read since the transaction began. */
  dropCache(): void {
    for (const rows of this.#cache.values()) rows.clear();
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
    return this.#changes + this.mailboxCounters.length;
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Copies the whole store into a file, while everything goes on. */
  async backup(file: string): Promise<void> {
    await backup(this.#database, file);
  }

  close(): void {
    this.#statements.clear();
    this.#cache.clear();
    this.#cachedOf.clear();
    this.#database.close();
  }

  /** The prepared statement, which is about to run: what it changes is no longer cached. */
  #statement(sql: string): StatementSync {
    const statement = this.#prepared(sql);
    if (statement.changesAnything) this.dropCache();
    else if (statement.outdates.length === 0) return statement.prepared;
    for (const all of statement.outdates) {
      for (const rows of all) if (rows.size > 0) rows.clear();
    }
    this.#changes++;
    return statement.prepared;
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const { prepared, touched } = this.#prepare(sql);
    const outdates =
      touched.changes.size === 0 ? NOTHING : Array.from(touched.changes, (table) => this.#cachedRowsOf(table));
    const statement = { prepared, outdates, changesAnything: touched.changesAnything };
    this.#statements.set(sql, statement);
    return statement;
  }

  #prepare(sql: string): { prepared: StatementSync; touched: Touched } {
    const touched = { reads: new Set<string>(), changes: new Set<string>(), changesAnything: false };
    this.#preparing = touched;
    try {
      return { prepared: this.#database.prepare(sql), touched };
    } finally {
      this.#preparing = null;
    }
  }

  /** SQLite tells here what a statement touches, while it is prepared. */
  #notice(action: number, first: string | null): number {
    const touched = this.#preparing;
    if (touched === null || first === null) return constants.SQLITE_OK;
    if (action === constants.SQLITE_READ) touched.reads.add(first);
    else if (CHANGES.has(action)) touched.changes.add(first);
    const undoes =
      (action === constants.SQLITE_TRANSACTION || action === constants.SQLITE_SAVEPOINT) && first === "ROLLBACK";
    if (undoes || first === "sqlite_master") touched.changesAnything = true;
    return constants.SQLITE_OK;
  }
}

/** Maps a row whose columns are named as its readers want them. */
export function asRead<Row extends object>(row: Row): Row {
  return row;
}

const CHANGES: ReadonlySet<number> = new Set([
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
]);
const NOTHING: readonly never[] = [];

/** Joins the values to a key: all but the last are numbers, so that no two lists of values make the same key. */
function keyOf(values: (string | number)[]): string | number {
  return values.length === 1 ? (values[0] ?? "") : values.join(" ");
}
