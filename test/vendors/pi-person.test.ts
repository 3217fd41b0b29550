import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventsIn, FakePi, inSession, loadInto, type Context } from "./fake-pi.ts";
import { folder, put } from "./fixtures.ts";

beforeEach(() => {
  vi.stubEnv("PERDURE_RUN", "r1");
  vi.stubEnv("PERDURE_PROJECT", "api");
  vi.stubEnv("PERDURE_NAME", "coder");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A person in front of pi: what they see, and what they answer, in order. */
class Person {
  readonly dialogs: { title: string; rows: string[] }[] = [];
  readonly notices: string[] = [];
  readonly statusLines: (string | undefined)[] = [];
  readonly #answers: (string | RegExp | undefined)[];

  constructor(...answers: (string | RegExp | undefined)[]) {
    this.#answers = answers;
  }

  get ui(): object {
    return {
      setStatus: (key: string, text: string | undefined) =>
        this.statusLines.push(key === "perdure" ? text : `under ${key}`),
      notify: (text: string, kind: string) => this.notices.push(`${kind}: ${text}`),
      select: async (title: string, rows: string[]) => {
        this.dialogs.push({ title, rows });
        const answer = this.#answers.shift();
        return rows.find((row) => answer !== undefined && row.search(answer) >= 0);
      },
      input: async (title: string) => {
        this.dialogs.push({ title, rows: [] });
        return this.#answers.shift();
      },
    };
  }

  context(more: Partial<Context> = {}): Context {
    return { ...inSession("s"), hasUI: true, cwd: "/project", ui: this.ui, ...more };
  }
}

const PEER = { address: "api/peer", state: "idle", vendor: "claude", unread: 0, about: "reads everything", run: null };

/** Answers as perdure's own commands do; keeps what was asked, and the text of what was sent. */
class FakePerdure {
  readonly asked: string[][] = [];
  readonly texts: string[] = [];
  /** The permissions of the files that had the texts. */
  readonly modes = new Set<number>();
  options: object = {};
  answers: Record<string, object> = {
    ls: { workers: [PEER] },
    send: { to: "api/peer", state: "queued", outlook: "in a moment" },
  };

  readonly exec = async (_program: string, words: string[], options: object): Promise<object> => {
    this.options = options;
    this.asked.push(words.map((word) => (word.includes("/.written.") ? "FILE" : word)));
    const file = words[words.indexOf("--file") + 1] ?? "";
    if (words.includes("--file")) {
      this.modes.add(statSync(file).mode & 0o777);
      this.texts.push(readFileSync(file, "utf8"));
    }
    return { stdout: JSON.stringify(this.answers[words[0] ?? ""]), stderr: "", killed: false };
  };
}

async function opened(person: Person, perdure: FakePerdure, args = ""): Promise<{ dir: string; api: FakePi }> {
  const dir = folder();
  const api = await loadInto(dir, new FakePi(perdure.exec));
  await api.commands.get("perdure")?.(args, person.context());
  return { dir, api };
}

test("the line in the footer says what the daemon last left, and nothing when that is gone", async () => {
  const dir = folder();
  const person = new Person();
  const api = await loadInto(dir, new FakePi());
  put(dir, "status.json", JSON.stringify({ address: "api/coder", unread: 0, unanswered: 0 }));
  api.emit("session_start", {}, person.context());
  expect(person.statusLines).toEqual(["api/coder"]);
  put(dir, "status.json", JSON.stringify({ address: "api/coder\u001b[2J", unread: 2, unanswered: 1 }));
  await vi.waitFor(() => expect(person.statusLines.at(-1)).toBe("api/coder [2J · 2 unread · 1 to answer"));
  rmSync(`${dir}/status.json`);
  await vi.waitFor(() => expect(person.statusLines.at(-1)).toBeUndefined());
  api.emit("session_shutdown", {}, person.context());
});

test("without anybody in front of it no line is drawn", async () => {
  const dir = folder();
  const person = new Person();
  const api = await loadInto(dir, new FakePi());
  put(dir, "status.json", JSON.stringify({ address: "api/coder", unread: 0, unanswered: 0 }));
  api.emit("session_start", {}, person.context({ hasUI: false }));
  api.emit("session_shutdown", {}, person.context());
  expect(person.statusLines).toEqual([]);
});

test("a peer is picked and written to, as the worker, and the text is in nobody's arguments", async () => {
  const person = new Person(/peer/, "--help me");
  const perdure = new FakePerdure();
  const own = { address: "api/coder", state: "idle", unread: 1, run: { id: "r1" } };
  perdure.answers.ls = { workers: [own, PEER] };
  const { dir, api } = await opened(person, perdure);
  const [list, input] = person.dialogs;
  expect(list?.title).toBe("api/coder · 1 unread\nWrite to a peer, as api/coder:");
  expect(list?.rows).toEqual(["api/peer  idle · claude · reads everything", "Read the mail of api/coder"]);
  expect(input?.title).toContain("sent by this worker, api/coder, not by you");
  expect(perdure.asked).toEqual([
    ["ls", "--json"],
    ["send", "api/peer", "--file", "FILE", "--json"],
  ]);
  expect(perdure.texts).toEqual(["--help me"]);
  expect([...perdure.modes]).toEqual([0o600]);
  expect(perdure.options).toMatchObject({ cwd: "/project" });
  expect(person.notices).toEqual(["info: Sent to api/peer by api/coder; delivered in a moment."]);
  expect(existsSync(dir) && eventsIn(dir)).toEqual([]);
  expect([...api.shortcuts.keys()]).toEqual(["ctrl+alt+w"]);
});

test("nothing is sent where the person gives up, or says nothing", async () => {
  const perdure = new FakePerdure();
  await opened(new Person(undefined), perdure);
  await opened(new Person(/peer/, undefined), perdure);
  await opened(new Person(/peer/, "  "), perdure);
  expect(perdure.texts).toEqual([]);
});

test("a list that would not fit is cut, and whoever is not in it is written to by name", async () => {
  const perdure = new FakePerdure();
  perdure.answers.ls = { workers: Array.from({ length: 40 }, (_, n) => ({ ...PEER, address: `api/w${n}` })) };
  const person = new Person();
  await opened(person, perdure);
  expect(person.dialogs[0]?.rows).toHaveLength(16);
  expect(person.dialogs[0]?.title).toContain("25 more: /perdure NAME");
  await opened(new Person(), perdure, " w39  two\nlines ");
  expect(perdure.asked.at(-1)?.slice(0, 2)).toEqual(["send", "w39"]);
  expect(perdure.texts).toEqual(["two\nlines"]);
  await opened(new Person(), perdure, "--group=x text");
  expect(perdure.asked.at(-1)).toEqual(["ls", "--json"]);
});

test("what others wrote is shown, newest first, without anything that controls a terminal", async () => {
  const body = "\u001b]0;title\u0007\u001b[31mred\u009b2J\u202eback\r\nnext line";
  const person = new Person(/Read the mail/, /red/, /Write to/, "thanks");
  const perdure = new FakePerdure();
  const older = { id: "m1", from: "api/other", state: "read", body: "old" };
  perdure.answers.inbox = { messages: [older, { id: "m2", from: "api/peer", state: "queued", body }] };
  await opened(person, perdure);
  expect(perdure.asked[1]).toEqual(["inbox", "--all", "--limit", "10", "--json"]);
  const [, list, message] = person.dialogs;
  expect(list?.rows.map((row) => row.split("  ")[0])).toEqual(["api/peer", "api/other"]);
  expect(message?.title.split("\n").at(-1)).toBe("next line");
  const shown = person.dialogs.flatMap(({ title, rows }) => [title, ...rows]).join("\n");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(perdure.texts).toEqual(["thanks"]);
});

test.each([
  ["many lines", "line\n".repeat(1000)],
  ["a long line", "x".repeat(100_000)],
])("of %s the beginning is shown, and where the rest is", async (_what, body) => {
  const person = new Person(/Read the mail/, /m1/);
  const perdure = new FakePerdure();
  perdure.answers.inbox = { messages: [{ id: "m1", from: "api/peer", state: "read", body }] };
  await opened(person, perdure);
  const title = person.dialogs[2]?.title ?? "";
  expect(title.split("\n").length).toBeLessThan(15);
  expect(title.length).toBeLessThan(1000);
  expect(title).toMatch(/perdure mail m1\)$/);
});

test("an error of perdure's is shown to the person, and never thrown into pi", async () => {
  const perdure = new FakePerdure();
  perdure.answers.ls = { error: { message: "The daemon is gone.", hint: "perdure daemon start" } };
  const person = new Person();
  const { api } = await opened(person, perdure);
  expect(person.notices).toEqual(["error: perdure: The daemon is gone. (perdure daemon start)"]);
  const stale = {
    ...person.context(),
    get ui(): never {
      throw new Error("stale");
    },
  };
  await expect(api.commands.get("perdure")?.("", stale)).resolves.toBeUndefined();
});

test("a dialog that the person has opened here is no question of the agent's; any other one is", async () => {
  const dir = folder();
  const api = await loadInto(dir, new FakePi(new FakePerdure().exec));
  const person = new Person();
  const select = vi.fn<() => Promise<undefined>>(async () => {
    api.emit("ui_prompt_start", { reason: "ui_prompt" }, person.context());
    return undefined;
  });
  await api.shortcuts.get("ctrl+alt+w")?.(person.context({ ui: { ...person.ui, select } }));
  expect(select).toHaveBeenCalledOnce();
  expect(eventsIn(dir)).toEqual([]);
  api.emit("ui_prompt_start", { reason: "ui_prompt" }, person.context());
  expect(eventsIn(dir)).toHaveLength(1);
});

test("a pi without commands of extensions gets its mail all the same", async () => {
  const dir = folder();
  const handlers: string[] = [];
  await loadInto(dir, { on: (event: string) => handlers.push(event) });
  expect(handlers).toContain("before_agent_start");
});
