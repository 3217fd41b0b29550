import * as fc from "fast-check";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import type { WorkerEntry } from "../../../src/project/config/read.ts";
import { withEntry, withRenamedEntry } from "../../../src/project/fleet/add-entry.ts";

function added(text: string, name: string, entry: WorkerEntry): string | null {
  return withEntry({ text, file: "perdure.toml" }, name, entry);
}

const CLAUDE: WorkerEntry = { vendor: "claude", args: ["--model", "opus"] };
const TABLE = '[workers.coder]\nvendor = "claude"\nargs = ["--model", "opus"]\n';

test.each([
  ["an empty file", "", TABLE],
  ["a file of comments", "# mine\n", `# mine\n\n${TABLE}`],
  ["a last line without an end", '[workers.a]\nvendor = "pi"', `[workers.a]\nvendor = "pi"\n\n${TABLE}`],
  ["line ends of another system", 'project = "x"\r\n', `project = "x"\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}`],
])("one table is added at the end of %s", (_what, before, after) => {
  expect(added(before, "coder", CLAUDE)).toBe(after);
});

test.each([
  ["the workers are an inline table", "workers = { a = { vendor = 'pi' } }\n"],
  ["the name is there already", '[workers.coder]\nvendor = "pi"\n'],
  ["the name is there in dotted keys", 'workers.coder.vendor = "pi"\n'],
  ["the text does not end", 'project = """x\n'],
  ["git has left a conflict", "<<<<<<< HEAD\n[workers.a]\n=======\n>>>>>>> theirs\n"],
  ["a list of tables has the name", "[[workers]]\n"],
])("nothing is added where %s", (_what, before) => {
  expect(added(before, "coder", CLAUDE)).toBeNull();
});

test("whatever the words are, the parser reads exactly them, or nothing is added", () => {
  const word = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.constant("\u007f\u0001\"'\\"),
  );
  const name = fc.constantFrom("coder", "coder.1", "a-b_c", "X");
  fc.assert(
    fc.property(name, fc.array(word), fc.boolean(), (key, words, isVendor) => {
      const entry: WorkerEntry = isVendor ? { vendor: "claude", args: words } : { command: ["x", ...words] };
      const text = added('[workers.other]\nvendor = "pi"\n', key, entry);
      if (text === null) return;
      const { workers } = parse(text) as { workers: Record<string, object> };
      expect(Object.keys(workers)).toEqual(["other", key]);
      expect({ ...workers[key] }).toEqual(entry);
    }),
  );
});

function renamed(text: string): string | null {
  return withRenamedEntry({ text, file: "perdure.toml" }, "coder", "builder");
}

test.each([
  [
    "a table",
    '# mine\n[workers.coder] # the first\nvendor = "pi"\n',
    '# mine\n[workers.builder] # the first\nvendor = "pi"\n',
  ],
  [
    "a table with tables of its own, and quotes",
    '[workers."coder"]\nvendor = "pi"\n[ workers . coder . env ]\nA = "1"\n[workers.coder-2]\nvendor = "pi"\n',
    '[workers.builder]\nvendor = "pi"\n[ workers . builder . env ]\nA = "1"\n[workers.coder-2]\nvendor = "pi"\n',
  ],
])("an entry gets another name in %s", (_what, before, after) => {
  expect(renamed(before)).toBe(after);
});

test.each([
  ["the name is in dotted keys", 'workers.coder.vendor = "pi"\n'],
  ["the new name is there", '[workers.coder]\nvendor = "pi"\n[workers.builder]\nvendor = "pi"\n'],
  ["a text looks like the table", '[workers.coder]\nvendor = "pi"\nabout = """\n[workers.coder]\n"""\n'],
  ["there is no such entry", '[workers.other]\nvendor = "pi"\n'],
  ["the file has a mistake", '[workers.coder]\nvendor = "pi\n'],
])("no entry gets another name where %s", (_what, before) => {
  expect(renamed(before)).toBeNull();
});
