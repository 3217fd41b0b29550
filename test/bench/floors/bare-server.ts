// The least a durable mailbox can cost with the tables of the store: the frames and the greeting of the daemon, a message with its indexes
// and its event, one commit for all that came in one turn of the event loop, and the answers after it. No names, rules, digests or checks;
// with --digests, each message is looked up under its id and its reader by name, and it is digested. `peekMail` finds one reader by name.
//   node bare-server.ts SOCKET STORE [--digests | --workers COUNT]
import { createServer, type Socket } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { WAL_BYTES_KEPT, WAL_PAGES_MAX } from "../../../src/limits/index.ts";
import { wireNameOf } from "../../../src/protocol/calls/wire-names.ts";
import { FrameGatherer, FrameReader } from "../../../src/protocol/frames.ts";
import { PROTOCOL_VERSION, VERSION } from "../../../src/protocol/version.ts";
import { sha256 } from "../../../src/util/sha256.ts";
import { MIGRATIONS } from "../../../src/store/migrations/index.ts";

interface Request {
  id: number;
  call: string;
  params: { id: string | null; body: string; to: string[]; target?: { name: string } };
}

const [socketPath, file = "", flag, crowd] = process.argv.slice(2);
const digests = flag === "--digests";
const db = new DatabaseSync(file);
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX};
  PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}; PRAGMA foreign_keys = ON`);
for (const migration of MIGRATIONS) db.exec(migration);
db.exec(`INSERT INTO projects (slug, slug_key, identity, root, created_ms, uid) VALUES ('api', 'api', '/api', '/api', 1, lower(hex(randomblob(16))));
  INSERT INTO workers (project_id, name, name_key, created_ms, uid) VALUES (1, 'reader', 'reader', 1, lower(hex(randomblob(16))));
  INSERT INTO mailboxes VALUES (1, 1, 0, 0)`);
if (flag === "--workers") {
  db.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1 - 1)
     INSERT INTO workers (project_id, name, name_key, created_ms, uid)
     SELECT 1, 'worker-' || n, 'worker-' || n, 1, lower(hex(randomblob(16))) FROM numbers`,
  ).run(Number(crowd));
  db.exec("INSERT INTO mailboxes SELECT 1, id, 1, 200 FROM workers WHERE id > 1");
}
const [known, find, unread, begin, insert, event, count, commit] = [
  db.prepare("SELECT seq FROM messages WHERE id = ?"),
  db.prepare("SELECT id, name FROM workers WHERE project_id = 1 AND name_key = ? AND retired_ms IS NULL"),
  db.prepare("SELECT messages FROM mailboxes WHERE project_id = 1 AND worker_id = ?"),
  db.prepare("BEGIN IMMEDIATE"),
  db.prepare(`INSERT INTO messages (id, project_id, to_worker, from_name, body, digest, state, created_ms, changed_ms)
    VALUES (?, 1, 1, 'operator', ?, ?, 'queued', 1, 1)`),
  db.prepare("INSERT INTO events (at_ms, type, project_id, worker_id, data) VALUES (1, 'mail.queued', 1, 1, ?)"),
  db.prepare("UPDATE mailboxes SET messages = messages + ?"),
  db.prepare("COMMIT"),
];
const DIGEST = "0".repeat(64);
const FIND = wireNameOf("peekMail");

interface Peer {
  socket: Socket;
  answers: FrameGatherer;
}

let waiting: { request: Request; peer: Peer }[] = [];
let minted = 0;

function commitAll(): void {
  const all = waiting;
  waiting = [];
  begin.run();
  const seqs = all.map(({ request: { params } }) => {
    const id = params.id ?? `minted-${minted++}`;
    const digest = digests ? checkedDigest(id, params) : DIGEST;
    event.run(`{"id":"${id}","from":"operator"}`);
    return insert.run(id, params.body, digest).lastInsertRowid;
  });
  count.run(all.length);
  commit.run();
  for (const [at, { request, peer }] of all.entries()) peer.answers.add({ id: request.id, result: Number(seqs[at]) });
  for (const peer of new Set(all.map((each) => each.peer))) peer.socket.write(peer.answers.take());
}

function checkedDigest(id: string, { body, to }: Request["params"]): string {
  if (typeof body !== "string" || !Array.isArray(to)) throw new Error("not a message");
  const reader = find.get((to[0] ?? "").toLowerCase());
  if (reader === undefined || known.get(id) !== undefined) throw new Error(`${id} cannot be sent to ${to.join()}`);
  return sha256(JSON.stringify([id, null, 1, reader.id, body, null, false, []]));
}

/** Finds one worker by name, and how much mail it has. */
function found({ id, params: { target } }: Request): object {
  const worker = find.get(target?.name.toLowerCase() ?? "");
  return { id, result: { worker, unread: worker === undefined ? null : unread.get(worker.id ?? 0) } };
}

const server = createServer((socket) => {
  const frames = new FrameReader();
  const peer: Peer = { socket, answers: new FrameGatherer() };
  let greeted = false;
  socket.on("data", (chunk: Buffer) => {
    frames.push(chunk);
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
      if (greeted && (frame.value as Request).call === FIND) {
        peer.answers.add(found(frame.value as Request));
        socket.write(peer.answers.take());
      } else if (greeted) {
        if (waiting.push({ request: frame.value as Request, peer }) === 1) setImmediate(commitAll);
      } else {
        greeted = true;
        peer.answers.add({ id: 0, result: { protocol: PROTOCOL_VERSION, version: VERSION, pid: process.pid } });
        socket.write(peer.answers.take());
      }
    }
  });
  socket.on("error", (error) => console.error(error.message));
});
server.listen(socketPath, () => console.log("listening"));
