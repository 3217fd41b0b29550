// The least that a daemon is: a store that is open, a socket, as many clients as come, each of whom is echoed, and as much code in memory.
//   node bare-daemon.cjs SOCKET STORE BUNDLE
const { readFileSync } = require("node:fs");
const { createServer } = require("node:net");
const { DatabaseSync } = require("node:sqlite");
const { Script } = require("node:vm");

const [socketPath, file, bundle] = process.argv.slice(2);
const db = new DatabaseSync(file);
db.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE one (a); BEGIN; INSERT INTO one VALUES (1); COMMIT",
);
globalThis.code = compiled(readFileSync(bundle, "utf8"), readFileSync(`${bundle}.cache`));

function compiled(source, kept) {
  const cachedData = kept.subarray(`${source.slice(-17)}${process.version} ${process.arch}\n`.length);
  return new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: bundle,
    cachedData,
  });
}
globalThis.server = createServer((socket) => {
  socket.on("data", (chunk) => socket.write(JSON.stringify(JSON.parse(chunk.toString()))));
  socket.on("error", () => {});
}).listen(socketPath, () => {
  console.log("listening");
  setTimeout(() => globalThis.gc?.(), 500);
});
