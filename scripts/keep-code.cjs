// Runs the program of a verb, and keeps the code that V8 has made of it by its end, with what it is of in front.
//   node keep-code.cjs DIST VERB ARGUMENT…
const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { Script } = require("node:vm");

const [, , dist, verb] = process.argv;
process.argv.splice(2, 1);
const filename = `${dist}/verb-${verb}.cjs`;
const source = readFileSync(filename, "utf8");
const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, { filename });

function keep() {
  const header = Buffer.from(`${source.slice(-17)}${process.version} ${process.arch}\n`);
  writeFileSync(`${filename}.cache`, Buffer.concat([header, script.createCachedData()]));
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
script.runInThisContext()(exports, createRequire(filename), module, filename, dist);
