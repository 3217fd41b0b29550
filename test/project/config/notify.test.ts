import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { notifySettings } from "../../../src/project/config/notify.ts";
import { readConfigAt, readUserConfig, readUserSettings } from "../../../src/project/config/read.ts";
import { NEED_KINDS } from "../../../src/protocol/records/needs.ts";
import { Home } from "../../support/home.ts";

const home = new Home();
const file = join(home.dir, ".config/perdure/config.toml");
mkdirSync(dirname(file), { recursive: true });
afterAll(() => home.clear());

function write(toml: string): string {
  writeFileSync(file, toml);
  return file;
}

test("without [notify] everything is told after 20 seconds, by the bell alone", () => {
  expect(notifySettings(readUserConfig(write('name = "solo"\n')))).toEqual({
    command: null,
    ntfy: null,
    details: false,
    bell: true,
    on: NEED_KINDS,
    afterMs: 20_000,
    quiet: null,
  });
});

test("both readers take the same settings from the user's file", () => {
  write(`[notify]
command = ["notify-send", "perdure"]
ntfy = "https://ntfy.example/topic"
details = true
bell = false
on = ["blocked", "mail"]
after = "0s"
quiet = "22:30-07:05"
[tmux]
conf = "~/.tmux.conf"
`);
  const settings = notifySettings(readUserSettings(file));
  expect(settings).toEqual(notifySettings(readUserConfig(file)));
  expect(settings).toMatchObject({ afterMs: 0, on: ["blocked", "mail"], quiet: { from: 1350, to: 425 }, bell: false });
});

test.each([
  ['command = "notify-send"', /:2: notify\.command must be a list of texts in quotes that begins with a program/],
  ["command = []", /notify\.command must be a list of texts .*, not a list/],
  ['ntfy = "my-topic"', /notify\.ntfy must be the address of a topic in quotes.*, not "my-topic"/],
  ['ntfy = "file:///etc/passwd"', /notify\.ntfy must be/],
  ['after = "soon"', /notify\.after must be a duration in quotes.*, not "soon"/],
  ['after = "30d"', /notify\.after must be a duration in quotes of at most a day/],
  ['quiet = "22-7"', /notify\.quiet must be two times of the day/],
  ['quiet = "24:00-07:00"', /notify\.quiet must be/],
  ['quiet = "07:00-07:00"', /notify\.quiet must be/],
  ['on = ["asleep"]', /notify\.on must be one of|notify\.on must be a list/],
  ['comand = ["x"]', /unknown key "notify\.comand"/],
])("%s is a mistake, with its line, for both readers", (line, message) => {
  write(`[notify]\n${line}\n`);
  expect(() => readUserConfig(file)).toThrow(message);
  expect(() => readUserSettings(file)).toThrow(message);
});

test.each(["notify", "tmux"])("a perdure.toml with [%s] is refused with the reason and the way out", (table) => {
  writeFileSync(join(home.project, "perdure.toml"), `project = "api"\n[${table}]\n`);
  expect(() => readConfigAt(home.project)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        new RegExp(`perdure\\.toml:2: \\[${table}\\] is read from your own configuration only: a repository must not`),
      ) as string,
      hint: expect.stringContaining("config.toml") as string,
    }),
  );
});
