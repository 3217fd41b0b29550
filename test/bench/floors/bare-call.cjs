// The least that makes one call to the daemon: connects and greets, asks, and prints how long the answer is. With a program, it then
// becomes a shell that stays and starts that, as a wrapper does. It has no project, rules, errors or table.
//   sh bare-call.sh SOCKET CALL PARAMS [PROGRAM]
const { writeSync } = require("node:fs");
const { Pipe, PipeConnectWrap, constants } = process.binding("pipe_wrap");
const { WriteWrap, streamBaseState, kReadBytesOrError, kArrayBufferOffset } = process.binding("stream_wrap");

const [socket, call, params, program] = process.argv.slice(2);
const [protocol, version] = process.env.BARE_PROTOCOL.split(" ");
const pipe = new Pipe(constants.SOCKET);
let answers = 0;
let read = Buffer.alloc(0);

function write(value) {
  const json = Buffer.from(JSON.stringify(value));
  const frame = Buffer.alloc(4 + json.length);
  frame.writeUInt32BE(json.length);
  json.copy(frame, 4);
  const request = new WriteWrap();
  request.buffer = frame;
  request.oncomplete = () => {};
  pipe.writeBuffer(request, frame);
}

function answered(answer) {
  if (answers++ === 0) return write({ id: 1, call, params: JSON.parse(params) });
  if (answer.item !== undefined) return undefined;
  if (answer.error) throw new Error(answer.error.message);
  if (program === undefined) {
    writeSync(1, `${answers}\n`);
    process.exit(0);
  }
  return process.execve("/bin/sh", ["sh", "-c", '"$1"; exit "$?"', "sh", program], process.env);
}

pipe.onread = (bytes) => {
  const length = streamBaseState[kReadBytesOrError];
  if (length < 0) throw new Error("the daemon has closed the connection");
  if (length === 0) return;
  read = Buffer.concat([read, Buffer.from(bytes, streamBaseState[kArrayBufferOffset], length)]);
  while (read.length >= 4 && read.length >= 4 + read.readUInt32BE()) {
    const end = 4 + read.readUInt32BE();
    const answer = JSON.parse(read.toString("utf8", 4, end));
    read = read.subarray(end);
    answered(answer);
  }
};
const request = new PipeConnectWrap();
request.oncomplete = (status) => {
  if (status !== 0) throw new Error(`cannot connect to ${socket}: ${status}`);
  pipe.readStart();
  write({ protocol: Number(protocol), version, token: null });
};
pipe.connect(request, socket);
