// The least a durable mailbox can cost with the tables of the store: the frames and the greeting of the daemon, a message with its indexes
// and its event, one commit for all that came in one turn of the event loop, and the answers after it. No names, rules, digests or checks.
//   node bare-server.ts SOCKET STORE
import { createServer, type Socket } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { WAL_BYTES_KEPT, WAL_PAGES_MAX } from "../../src/limits/index.ts";
import { FrameGatherer, FrameReader } from "../../src/protocol/frames.ts";
import { PROTOCOL_VERSION, VERSION } from "../../src/protocol/version.ts";
import { MIGRATIONS } from "../../src/store/migrations/index.ts";

interface Request {
  id: number;
  params: { id: string | null; body: string };
}

const [socketPath, file = ""] = process.argv.slice(2);
const db = new DatabaseSync(file);
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX};
  PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}; PRAGMA foreign_keys = ON`);
for (const migration of MIGRATIONS) db.exec(migration);
db.exec(`INSERT INTO projects (slug, slug_key, identity, root, created_ms, uid) VALUES ('api', 'api', '/api', '/api', 1, lower(hex(randomblob(16))));
  INSERT INTO workers (project_id, name, name_key, created_ms, uid) VALUES (1, 'reader', 'reader', 1, lower(hex(randomblob(16))));
  INSERT INTO mailboxes VALUES (1, 1, 0, 0)`);
const [begin, insert, event, count, commit] = [
  db.prepare("BEGIN IMMEDIATE"),
  db.prepare(`INSERT INTO messages (id, project_id, to_worker, from_name, body, digest, state, created_ms, changed_ms)
    VALUES (?, 1, 1, 'operator', ?, ?, 'queued', 1, 1)`),
  db.prepare("INSERT INTO events (at_ms, type, project_id, worker_id, data) VALUES (1, 'mail.queued', 1, 1, ?)"),
  db.prepare("UPDATE mailboxes SET messages = messages + ?"),
  db.prepare("COMMIT"),
];
const DIGEST = "0".repeat(64);

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
    event.run(`{"id":"${id}","from":"operator"}`);
    return insert.run(id, params.body, DIGEST).lastInsertRowid;
  });
  count.run(all.length);
  commit.run();
  for (const [at, { request, peer }] of all.entries()) peer.answers.add({ id: request.id, result: Number(seqs[at]) });
  for (const peer of new Set(all.map((each) => each.peer))) peer.socket.write(peer.answers.take());
}

const server = createServer((socket) => {
  const frames = new FrameReader();
  const peer: Peer = { socket, answers: new FrameGatherer() };
  let greeted = false;
  socket.on("data", (chunk: Buffer) => {
    frames.push(chunk);
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
      if (greeted) {
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
