// Runs the program of a verb with the code that V8 has made of it before, which scripts/code-cache.js keeps beside it: compiling it is
// a tenth of a short command. Code of another program, Node or machine is not taken, and the program is compiled as ever.
const { readFileSync } = require("node:fs");
const { Script } = require("node:vm");

const filename = `${__dirname}/verb-${process.argv[2]}.cjs`;
const source = readFileSync(filename, "utf8");
const kept = readFileSync(`${filename}.cache`);
// The program's last line is its digest: V8 itself compares no more than the length.
const header = `${source.slice(-17)}${process.version} ${process.arch}\n`;
const cachedData = kept.latin1Slice(0, header.length) === header ? kept.subarray(header.length) : undefined;
const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
  filename,
  cachedData,
});
script.runInThisContext()(exports, require, module, filename, __dirname);
