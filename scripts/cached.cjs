// Runs the program of a verb, or the daemon, with the code that V8 has made of it before, which scripts/code-cache.js keeps beside it.
// Code of another program, Node or machine is not taken, and the program is compiled as ever.
const { existsSync, readFileSync } = require("node:fs");
const { Script } = require("node:vm");

const name = __filename.endsWith("daemon.cjs") ? "perdured" : `verb-${process.argv[2]}`;
const filename = `${__dirname}/${name}.cjs`;
// A stack names the files of src only for a program that Node has read itself.
if (process.sourceMapsEnabled || !existsSync(`${filename}.cache`)) require(filename);
else compiled().runInThisContext()(exports, require, module, filename, __dirname);

function compiled() {
  const source = readFileSync(filename, "utf8");
  const kept = readFileSync(`${filename}.cache`);
  // The program's last line is its digest: V8 itself compares no more than the length.
  const header = `${source.slice(-17)}${process.version} ${process.arch}\n`;
  const cachedData = kept.latin1Slice(0, header.length) === header ? kept.subarray(header.length) : undefined;
  return new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, { filename, cachedData });
}
