import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HEAP_FLAGS } from "../../src/client/autostart.ts";
import { DIST } from "../../src/state/paths.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "perdure-code-cache-"));
const program = join(dir, "verb-say.cjs");
const kept = `${program}.cache`;

beforeAll(() => copyFileSync(join(ROOT, "scripts/cached.cjs"), join(dir, "cached.cjs")));
afterAll(() => rmSync(dir, { recursive: true }));

/** Writes a program that says a word, with its digest as its last line. */
function write(word: string): void {
  const text = `require("fs").writeSync(1, "${word}");process.exit(0);\n`;
  writeFileSync(program, `${text}\n//${createHash("sha256").update(text).digest("hex").slice(0, 16)}\n`);
}

function digest(): string {
  return readFileSync(program, "utf8").slice(-17);
}

function keep(): void {
  execFileSync(process.execPath, [join(ROOT, "scripts/keep-code.cjs"), program, "say"]);
}

function said(): string {
  return execFileSync(process.execPath, [join(dir, "cached.cjs"), "say"], { encoding: "utf8" });
}

/** Puts other bytes in front of the code, where it says what it is of. */
function relabel(from: string, to: string): void {
  const bytes = readFileSync(kept, "latin1");
  expect(bytes).toContain(from);
  writeFileSync(kept, bytes.replace(from, to), "latin1");
}

test("a program is run with the code that was kept of it", () => {
  write("two");
  keep();
  const ofTwo = digest();
  write("one");
  relabel(ofTwo, digest());
  // The code is another program's, which says what was run.
  expect(said()).toBe("two");
});

test.each([
  ["another program of the same length", () => write("one")],
  ["another Node", () => relabel(process.version, "v0.0.0")],
  ["another machine", () => relabel(` ${process.arch}\n`, " other\n")],
])("code of %s is not taken", (_, change) => {
  write("two");
  keep();
  change();
  const expected = readFileSync(program, "utf8").includes("one") ? "one" : "two";
  expect(said()).toBe(expected);
});

test("code that was cut off is not taken", () => {
  write("one");
  keep();
  const bytes = readFileSync(kept);
  writeFileSync(kept, bytes.subarray(0, bytes.length / 2));
  expect(said()).toBe("one");
});

test.each(["context", "history", "inbox", "ls", "run", "send", "show", "whoami"])(
  "%s, which is typed often, has code that this Node takes",
  (verb) => expect(isTaken(join(DIST, `verb-${verb}.cjs`), [])).toBe(true),
);

test("the daemon has code that a Node with its flags takes", () => {
  expect(isTaken(join(DIST, "perdured.cjs"), HEAP_FLAGS)).toBe(true);
});

const TAKE = `
  const source = require("fs").readFileSync(process.argv[1], "utf8");
  const header = source.slice(-17) + process.version + " " + process.arch + "\\n";
  const kept = require("fs").readFileSync(process.argv[1] + ".cache");
  const cachedData = kept.subarray(header.length);
  const wrapped = "(function(exports,require,module,__filename,__dirname){" + source + "\\n})";
  const { cachedDataRejected } = new (require("vm").Script)(wrapped, { cachedData });
  console.log(kept.latin1Slice(0, header.length) === header && !cachedDataRejected);`;

function isTaken(file: string, flags: readonly string[]): boolean {
  return execFileSync(process.execPath, [...flags, "-e", TAKE, file], { encoding: "utf8" }) === "true\n";
}
