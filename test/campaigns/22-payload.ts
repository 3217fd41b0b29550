import { pick, whole } from "../support/check.ts";

/** Sequences that terminals obey, or that change how a line reads. The plain colours are ours, too: in data they are not. */
const SEQUENCES = [
  "\u001b]0;pwned\u0007",
  "\u001b]8;;http://pwned\u001b\\",
  "\u001b]52;c;cHduZWQ=\u0007",
  "\u001b[2J\u001b[H",
  "\u001b[31m",
  "\u001b[1m",
  "\u001b[6n",
  "\u001b[?1049h",
  "\u001b[201~",
  "\u001bP+q544e\u001b\\",
  "\u001bP$q\u001b\\",
  "\u001b_pwned\u001b\\",
  "\u001bc",
  "\u009b31m",
  "\u009d0;pwned\u009c",
  "\u0090q\u009c",
  "\u0085",
  "\u008d",
  "\u0007",
  "\b\b\b\b",
  "\u007f",
  "\u000b\u000c",
  "\u000e",
  "\u202e",
  "\u200f",
  "\u061c",
  "\u2066\u2069",
  "\u2028",
] as const;

/** Seen in the output, it shows that this very text was printed; `pwn` alone may be part of a path. */
export const MARK = "hostile";

/** Words with several of them in between, without a line's end: some of the places are one line. */
export function hostileText(random: () => number): string {
  const parts = Array.from({ length: 3 + whole(random, 4) }, () => pick(random, SEQUENCES));
  return `${MARK} ${parts.join("x")} end`;
}

/** The same as a file's or a folder's name: anything but a slash, and not too long. */
export function hostileFileName(random: () => number): string {
  return hostileText(random).replaceAll("/", "_").slice(0, 60);
}

/** Everything in a text that is not for people to read, but for the line's end; our own colours aside when asked. */
export function obeyed(output: string, coloured: boolean): string[] {
  const lines = output.replaceAll("\r\n", "\n");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const text = coloured ? lines.replace(/\u001b\[(?:1|2|22|31|32|33|36|39)m/g, "") : lines;
  // oxlint-disable-next-line no-control-regex -- the same
  const found = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069].{0,20}/gs;
  return text.match(found) ?? [];
}
