import { expect, test } from "vitest";
import { KeyDecoder } from "../../../../src/commands/shared/terminal/keys.ts";

const keysIn = (...chunks: string[]): string[] => {
  const decoder = new KeyDecoder();
  return chunks.flatMap((chunk) => decoder.keysIn(chunk));
};

test.each<[string, string[]]>([
  ["\u001b[A\u001bOB", ["up", "down"]],
  ["\u001b[5~\u001b[6~\u001b[H\u001b[4~", ["page-up", "page-down", "home", "end"]],
  ["\r\u0003\u001a\u000c", ["enter", "ctrl-c", "ctrl-z", "ctrl-l"]],
  ["nq?", ["n", "q", "?"]],
  ["é漢😀", ["é", "漢", "😀"]],
  ["\u001b", ["escape"]],
  // Nothing is bound to these: they must not be taken for the letters in them.
  ["\u001b[1;5A\u001b[<0;3;4M\u001br\u0000\u0007", []],
])("keys are read from %j", (text, keys) => {
  expect(keysIn(text)).toEqual(keys);
});

test("a paste is dropped, however it is cut", () => {
  expect(keysIn("a\u001b[200~ry\rq\u001b[201~b")).toEqual(["a", "b"]);
  expect(keysIn("\u001b[200~r", "y\r", "\u001b[201~q")).toEqual(["q"]);
});
