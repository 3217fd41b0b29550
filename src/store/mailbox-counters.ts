export interface MailboxCount {
  readonly messages: number;
  readonly bytes: number;
}

/** The part of the store's connection that the counters use; the connection itself holds them. */
interface CounterDb {
  cachedOne<Columns, Value extends object>(
    map: (columns: Columns) => Value,
    sql: string,
    ...values: number[]
  ): Readonly<Value> | null;
  primeCache(sql: string, values: number[], row: object): void;
  run(sql: string, ...values: number[]): number;
}

interface CounterEntry {
  messages: number;
  bytes: number;
  projectId: number;
  /** The worker's id; 0 for the operator's mailbox. */
  worker: number;
}

/**
 * Counts the mail on its way to each mailbox, so that a full mailbox is known without reading it. Changes are summed up
 * and written once before the commit ends: many messages to one mailbox update its row once.
 */
export class MailboxCounters {
  readonly #db: CounterDb;
  #entries: CounterEntry[] = [];
  #sums = new Map<number, CounterEntry>();

  constructor(db: CounterDb) {
    this.#db = db;
  }

  /** Returns the count of a mailbox, uncommitted changes included; `to` is null for the operator's. */
  count(projectId: number, to: number | null): MailboxCount {
    const stored = this.#stored(projectId, to ?? 0);
    const pending = this.#sums.get(keyOf(projectId, to ?? 0));
    return pending ? { messages: stored.messages + pending.messages, bytes: stored.bytes + pending.bytes } : stored;
  }

  /** Adds, inside a change, to the count of a mailbox; negative numbers take away. */
  add(projectId: number, to: number | null, messages: number, bytes: number): void {
    const entry = { projectId, worker: to ?? 0, messages, bytes };
    this.#entries.push(entry);
    this.#sum(entry);
  }

  /** How many changes are not written yet; `undo` takes this number. */
  get length(): number {
    return this.#entries.length;
  }

  /** Drops the changes after the first `length`, because they were rolled back. */
  undo(length: number): void {
    if (length === this.#entries.length) return;
    this.#entries.length = length;
    this.#sums.clear();
    for (const entry of this.#entries) this.#sum(entry);
  }

  /** Writes the sums to the store, right before the commit. */
  write(): void {
    // The next message asks how full the mailbox is, so a single one is cached; several would need a read each.
    const only = this.#sums.size === 1 ? this.#entries[0] : undefined;
    const now = only && this.count(only.projectId, only.worker);
    for (const { projectId, worker, messages, bytes } of this.#sums.values()) {
      this.#db.run(
        `INSERT INTO mailboxes (project_id, worker_id, messages, bytes) VALUES (?, ?, ?, ?)
         ON CONFLICT (project_id, worker_id) DO UPDATE SET messages = messages + excluded.messages, bytes = bytes + excluded.bytes`,
        projectId,
        worker,
        messages,
        bytes,
      );
    }
    if (only && now) this.#db.primeCache(SELECT_COUNT, [only.projectId, only.worker], { ...now });
    this.undo(0);
  }

  #sum({ projectId, worker, messages, bytes }: CounterEntry): void {
    const key = keyOf(projectId, worker);
    const sum = this.#sums.get(key);
    if (sum === undefined) {
      this.#sums.set(key, { projectId, worker, messages, bytes });
      return;
    }
    sum.messages += messages;
    sum.bytes += bytes;
  }

  #stored(projectId: number, worker: number): MailboxCount {
    return this.#db.cachedOne((row: MailboxCount) => row, SELECT_COUNT, projectId, worker) ?? EMPTY;
  }
}

const SELECT_COUNT = "SELECT messages, bytes FROM mailboxes WHERE project_id = ? AND worker_id = ?";
const EMPTY: MailboxCount = { messages: 0, bytes: 0 };

function keyOf(projectId: number, worker: number): number {
  return projectId * 2 ** 32 + worker;
}
