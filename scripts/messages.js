// Lists every message that the sources can show to somebody, to be read as a whole: `node scripts/messages.js [FOLDER of src]`.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a text that a person reads begins: an error and its hint, a note, a result, a reason, a table's head. */
const TELLING =
  /new PerdureError\(|\bhint: |\bhint\(|hintOf`|\.note\(|\.result\(|\breason: |\battention: |\bfault\(|\bproblem: |\bwhy: |\btable\(|\bmessage = |\busage\(|Error\(|\bwarnings?\b/;
const TEXT = /"((?:[^"\\]|\\.){12,})"|`((?:[^`\\]|\\.){12,})`/g;

const folder = process.argv[2] ?? "";
for (const file of globSync("**/*.ts", { cwd: join("src", folder) }).toSorted()) {
  const lines = readFileSync(join("src", folder, file), "utf8").split("\n");
  const told = lines.flatMap((line, at) =>
    isTold(lines, at) ? textsOf(line).map((text) => `  ${at + 1}: ${text}`) : [],
  );
  if (told.length > 0) console.log([`${join(folder, file)}`, ...told].join("\n"));
}

/** A text counts where it is told in its line or in one of the lines right above, in which the call begins. */
function isTold(lines, at) {
  return lines.slice(Math.max(0, at - 4), at + 1).some((line) => TELLING.test(line));
}

function textsOf(line) {
  if (/^\s*(?:import|\/\/|\*|\/\*\*)/.test(line)) return [];
  return [...line.matchAll(TEXT)].map((match) => match[1] ?? match[2]).filter((text) => /[a-z] [a-z]/.test(text));
}
