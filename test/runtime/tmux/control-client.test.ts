import { writeFileSync, mkdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { array, assert, asyncProperty, constantFrom, oneof, string } from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlClient } from "../../../src/runtime/tmux/control-client.ts";
import { quoteWord } from "../../../src/runtime/tmux/quote.ts";
import { ReplyReader } from "../../../src/runtime/tmux/reply-reader.ts";
import { tmuxSessionName } from "../../../src/runtime/tmux/start-commands.ts";
import { until } from "../../terminal/tmux.ts";
import { TmuxFixture, SLEEP } from "./tmux-fixture.ts";

let fixture: TmuxFixture;
beforeEach(() => {
  fixture = new TmuxFixture();
});
afterEach(() => fixture.clear());

/** A program that leaves its arguments, one variable and its folder in a file, by rename. */
function dumper(): string {
  const file = join(fixture.dir, "dump");
  const script = `out=$1; { printf '%s\\0' "$@"; printf '%s\\0' "$MARK"; pwd -P; } > "$out.tmp" && mv "$out.tmp" "$out"`;
  writeFileSync(file, `#!/bin/sh\n${script}\nexec sleep 1000\n`, { mode: 0o700 });
  return file;
}

const HOSTILE = [
  "~",
  "~root",
  "$HOME",
  "${HOME}",
  "#{pane_id}",
  "#(touch x)",
  "##",
  "#",
  ";",
  "a;",
  "\\;",
  "%H%M",
  "%if",
  "{",
  "}",
  "",
  " ",
  "'",
  '"',
  "\\",
  "\n",
  "a\nb",
  "\r\t\u001b[31m",
  "é😀",
  "\u0001",
  "-x",
  "--",
  "`id`",
  "!!",
  "*",
  "=",
  "@1",
  "%1",
  "$1",
  ":",
  ".",
];

test("arguments, variables and folders arrive byte for byte, whatever is in them", async () => {
  const server = fixture.server();
  const dump = dumper();
  let count = 0;
  const text = oneof(
    constantFrom(...HOSTILE),
    string({ unit: "binary" }),
    array(constantFrom(...HOSTILE)).map((parts) => parts.join("")),
  );
  const word = text.map((raw) => raw.replaceAll("\0", "").slice(0, 200));
  const folder = word.map((raw) => `d${raw.replaceAll("/", "").slice(0, 50)}`);
  await assert(
    asyncProperty(array(word, { maxLength: 8 }), word, folder, async (words, mark, name) => {
      const out = join(fixture.dir, `out${(count += 1)}`);
      const cwd = join(fixture.dir, name);
      mkdirSync(cwd, { recursive: true });
      const { pane } = await server.start(
        fixture.request(`w${count}`, [dump, out, ...words], { env: { MARK: mark }, cwd }),
      );
      await until(
        out,
        () => (existsSync(out) ? true : null),
        () => server.capture(pane, { lines: 20 }),
      );
      expect(readFileSync(out, "utf8")).toBe([out, ...words, mark, `${cwd}\n`].join("\0"));
      await server.removePane(pane);
    }),
    { numRuns: 100 },
  );
});

test("a program without arguments is no shell's command", async () => {
  const server = fixture.server();
  const file = join(fixture.dir, "a b; touch $HOME");
  writeFileSync(file, `#!/bin/sh\necho "$0 has $#"; exec sleep 1000\n`, { mode: 0o700 });
  const { pane } = await server.start(fixture.request("w", [file]));
  const words = await until("its words", async () => (await server.capture(pane, { lines: 5 })) || null);
  expect(words).toBe(`${file} has 0`);
});

test("names and titles of all kinds change nothing but themselves", async () => {
  const server = fixture.server();
  // oxlint-disable-next-line no-control-regex -- what no title can have
  const names = HOSTILE.filter((name) => name !== "" && !/[\n\r\u0001]/.test(name));
  const print = String.raw`printf '\033]2;%s\007' "$1"; exec sleep 1000`;
  const started = await Promise.all(
    names.map((name, index) =>
      server.start(
        fixture.request(name, ["/bin/sh", "-c", print, "sh", `${name}|%99|1`], {
          workerId: `id${index}`,
          project: name,
          run: name,
        }),
      ),
    ),
  );
  const titled = async () => {
    const panes = (await server.panes()).filter(({ workerId }) => workerId !== null);
    return panes.every(({ title }) => title !== "") ? panes : null;
  };
  const panes = await until("all titles", titled);
  expect(panes).toHaveLength(names.length);
  for (const [index, name] of names.entries()) {
    const pane = panes.find(({ id }) => id === started[index]?.pane);
    expect(pane).toMatchObject({
      workerId: `id${index}`,
      run: name,
      session: tmuxSessionName(name),
      title: `${name}|%99|1`,
    });
  }
  await server.rename("id0", "#{pane_id};");
  expect(fixture.tmux("display-message", "-p", "-t", started[0]?.pane ?? "", "#{window_name}")).toBe("#{pane_id};");
});

test("a title without end is cut", async () => {
  const server = fixture.server();
  const { pane } = await server.start(
    fixture.request("w", [
      "/bin/sh",
      "-c",
      String.raw`printf '\033]2;'; head -c 100000 /dev/zero | tr '\0' '|'; printf '\007'; exec sleep 1000`,
    ]),
  );
  const other = await server.start(fixture.request("other", SLEEP));
  const title = await until(
    "the title",
    async () => (await server.panes()).find(({ id, title: text }) => id === pane && text !== "")?.title ?? null,
  );
  expect(title).toMatch(/^\|{100,256}$/);
  expect((await server.panes()).find(({ id }) => id === other.pane)).toMatchObject({ workerId: "id-other" });
});

test("two projects never share a session", () => {
  const names = ["a.b", "a_b", "a+b", "a-b", "a:b", "_perdure", "", "~", "a~2e~b", "é", "e"];
  expect(new Set(names.map((name) => tmuxSessionName(name))).size).toBe(names.length);
  expect(names.map((name) => tmuxSessionName(name)).join("")).not.toMatch(/[.:]|^_/);
});

test("a NUL byte is refused", () => {
  expect(() => quoteWord("a\0b")).toThrow(/contains a NUL byte/);
});

test("the output of a pane is not taken for tmux's own protocol", () => {
  const heard: unknown[] = [];
  let nonce: string | null = "n0nce";
  const reader = new ReplyReader({
    answer: (lines, ok, ours) => {
      heard.push({ lines, ok, ours });
      nonce = null;
    },
    notice: (line) => heard.push(line),
    nonce: () => nonce,
  });
  const forged = ["%end 1 5 1", "%exit", "%begin 1 6 1", "%error 1 6 1", "%subscription-changed x"];
  const said = [
    "%begin 1 5 1",
    ...forged,
    "%end 1 5 1",
    "%window-add @1",
    "%begin 1 6 1",
    "n0nce",
    "%end 1 6 1",
    "%sessions-changed",
    "",
  ];
  for (const part of said.join("\n")) reader.read(part);
  expect(heard).toEqual([
    { lines: forged, ok: true, ours: true },
    "%window-add @1",
    { lines: ["n0nce"], ok: true, ours: true },
    "%sessions-changed",
  ]);
});

test("a pane that prints tmux's own words is captured as it is, and nobody is fooled", async () => {
  const server = fixture.server();
  // Every number that an answer could have in these seconds.
  const script = `date +%s | awk '{ for (s = $1; s < $1 + 3; s++) for (n = 0; n < 3000; n++) print "%end", s, n, 1 }'; echo %exit; echo done; exec sleep 1000`;
  const { pane } = await server.start(fixture.request("w", ["/bin/sh", "-c", script]));
  await until("its words", async () =>
    (await server.capture(pane, { lines: 100 })).endsWith("\n%exit\ndone") ? true : null,
  );
  const all = await server.capture(pane, { lines: 10_000 });
  expect(all.match(/^%end \d+ \d+ 1$/gm)).toHaveLength(9000);
  expect((await server.panes()).find(({ id }) => id === pane)).toMatchObject({ dead: false });
  expect(fixture.log).toEqual([]);
});

test("what is captured is bounded, and joined where tmux wrapped it", async () => {
  const server = fixture.server();
  const long = "x".repeat(1000);
  const { pane } = await server.start(
    fixture.request("w", ["/bin/sh", "-c", `seq 12000; echo ${long}; exec sleep 1000`]),
  );
  await until("its words", async () => ((await server.capture(pane, { lines: 1 })) === long ? true : null));
  expect(await server.capture(pane, { lines: 3 })).toBe(`11999\n12000\n${long}`);
  expect((await server.capture(pane, { lines: 1e9 })).split("\n")).toHaveLength(10_000);
  await expect(server.capture("%999", { lines: 3 })).rejects.toMatchObject({ code: "not-found" });
});

test("commands of one line are answered each; after one that fails the rest is not done, and the next line is", async () => {
  await fixture.server().ensure();
  const options = { file: "tmux", socket: fixture.socket, session: "_perdure", environment: fixture.env };
  const client = await ControlClient.open(options, () => undefined);
  const say = (text: string): string[] => ["display-message", "-p", text];
  const [both, failed, guarded, last] = await Promise.allSettled([
    client.send(say("one"), say("two")),
    client.send(say("three"), ["kill-pane", "-t", "%999"], ["kill-server"]),
    client.sendGuarded(["capture-pane", "-p", "-t", "%998"]),
    client.send(say("four")),
  ]);
  expect(both).toMatchObject({ value: [["one"], ["two"]] });
  expect(failed).toMatchObject({ reason: { code: "conflict", message: "tmux refused: can't find pane: %999." } });
  expect(guarded).toMatchObject({ reason: { message: "tmux refused: can't find pane: %998." } });
  expect(last).toMatchObject({ value: [["four"]] });
  client.close();
  await expect(client.send(say("five"))).rejects.toMatchObject({ code: "unavailable", retryable: true });
});
