// The least an answer of another process can cost. With a file, the least a durable one can: 4 KB are written over the same
// place and synced before the echo.
//   node echo.ts SOCKET [FILE]
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:net";

const [socketPath, file] = process.argv.slice(2);
const fd = file === undefined ? null : openSync(file, "w");
const page = Buffer.alloc(4096, 1);
const server = createServer((socket) => {
  socket.on("data", (chunk) => {
    if (fd !== null) {
      writeSync(fd, page, 0, page.length, 0);
      fdatasyncSync(fd);
    }
    socket.write(chunk);
  });
});
server.listen(socketPath, () => console.log("listening"));
