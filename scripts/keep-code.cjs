// Runs a program, and keeps the code that V8 has made of it by its end, with what it is of in front.
//   node keep-code.cjs FILE ARGUMENT…
// In place of daemon.cjs it is the daemon, started as ever: code is taken by a Node with the same flags only.
const { chmodSync, readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");

const isDaemon = __filename.endsWith("daemon.cjs");
const filename = isDaemon ? join(__dirname, "perdured.cjs") : process.argv.splice(2, 1)[0];
const source = readFileSync(filename, "utf8");
const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, { filename });

function keep() {
  const header = Buffer.from(`${source.slice(-17)}${process.version} ${process.arch}\n`);
  writeFileSync(`${filename}.cache`, Buffer.concat([header, script.createCachedData()]));
  chmodSync(`${filename}.cache`, 0o644); // the daemon's own files are nobody else's
}

// A program ends by one of these two.
const { reallyExit, execve } = process;
process.reallyExit = (code) => {
  keep();
  reallyExit.call(process, code);
};
process.execve = (...program) => {
  keep();
  execve.apply(process, program);
};
script.runInThisContext()(exports, createRequire(filename), module, filename, dirname(filename));
