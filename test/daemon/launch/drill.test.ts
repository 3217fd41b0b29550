import { chmodSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import { expect, it } from "vitest";
import { keepEnvironment } from "../../../src/state/environment-files.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import { hashTree } from "../../support/tree.ts";

const installPersona = personaInstaller();

interface Broken {
  name: string;
  check: string;
  says: RegExp;
  hint: RegExp;
  /** In a folder and with a config dir of its own, so that harm to it is harm to nobody else. */
  harm: (place: Place) => void;
}

interface Place {
  folder: string;
  transcript: string;
  config: string;
  custody: string;
  environments: string;
  program: string;
  set: (column: string, value: string) => void;
}

const BROKEN: Broken[] = [
  {
    name: "programless",
    check: "program",
    says: /is not on PATH|does not exist/,
    hint: /install it/,
    harm: ({ program }) => rmSync(program),
  },
  {
    name: "homeless",
    check: "folder",
    says: /its folder is gone/,
    hint: /--cwd DIR/,
    harm: ({ folder }) => rmSync(folder, { recursive: true }),
  },
  {
    name: "speechless",
    check: "conversation",
    says: /is gone/,
    hint: /--fresh/,
    harm: ({ transcript, custody }) => {
      rmSync(transcript);
      rmSync(custody, { recursive: true });
    },
  },
  {
    name: "garbled",
    check: "conversation",
    says: /is damaged/,
    hint: /adopt garbled --kept/,
    harm: ({ transcript }) => writeFileSync(transcript, "x".repeat(5_000)),
  },
  {
    name: "changed",
    check: "conversation",
    says: /its beginning was changed/,
    hint: /adopt changed --kept/,
    harm: ({ transcript }) =>
      writeFileSync(transcript, readFileSync(transcript, "utf8").replace("the secret", "the sEcret")),
  },
  {
    name: "short",
    check: "conversation",
    says: /was cut short/,
    hint: /adopt short --kept/,
    harm: ({ transcript }) =>
      writeFileSync(transcript, `${readFileSync(transcript, "utf8").split("\n").slice(0, 2).join("\n")}\n`),
  },
  {
    name: "bare",
    check: "environment",
    says: /lacks HOME/,
    hint: /login shell/,
    harm: ({ set, environments }) => {
      const variables = { PATH: process.env.PATH ?? "" };
      set("environment_file", keepEnvironment(environments, { variables, own: {} }));
    },
  },
  {
    name: "restored",
    check: "environment",
    says: /the recorded environment is gone/,
    hint: /login shell/,
    harm: ({ set }) => set("environment_file", "0".repeat(64)),
  },
];

/** Harm that a start repairs by itself: a drill warns of it, and says that the worker can be resumed. */
const REPAIRED: Omit<Broken, "hint">[] = [
  {
    name: "unconfigured",
    check: "config dir",
    says: /its config dir is gone/,
    harm: ({ config }) => renameSync(config, `${config}.away`),
  },
  {
    name: "uncopied",
    check: "custody",
    says: /is damaged; the next start replaces it/,
    harm: ({ custody }) => rmSync(custody, { recursive: true }),
  },
];

it("names one broken worker of each kind with reason and hint, and changes nothing", async () => {
  const persona = installPersona("scripted");
  const { home } = persona;
  await home.perdure(["run", "plain", "--", "true"]);
  const talk = await begin(persona, "whole");
  await talk.end();
  for (const { name } of [...BROKEN, ...REPAIRED]) await (await begin(persona, name)).end();
  const open = await begin(persona, "opened");
  await open.end();
  await keptAll(persona, ["whole", "opened", ...[...BROKEN, ...REPAIRED].map(({ name }) => name)]);

  const places = new Map<string, Place>();
  for (const { name } of [...BROKEN, ...REPAIRED]) places.set(name, await placeOf(persona, name));
  await home.perdure(["daemon", "stop"]);
  for (const { name, harm } of [...BROKEN, ...REPAIRED]) harm(places.get(name) as Place);
  const { conversation } = await persona.show("opened");
  const stranger = persona.runDirectly(["--resume", conversation?.id ?? ""], {
    cwd: join(home.project, "opened"),
    env: { ...home.env, PERDURE_SCRIPTED_HOME: join(home.dir, "config.opened") },
  });
  await stranger.answer();

  const before = hashTree(home.dir, isLive);
  const { code, stdout } = await home.perdure(["drill", "--json"]);
  expect(hashTree(home.dir, isLive)).toBe(before);
  expect(code).toBe(5);
  const { workers } = JSON.parse(stdout) as { workers: DrillResult[] };
  for (const { name, check, says, hint } of BROKEN) {
    const result = workers.find(({ address }) => address === `api/${name}`);
    const failed = result?.checks.find((each) => each.check === check);
    expect({ name, ok: result?.ok, failed: failed?.ok }).toEqual({ name, ok: false, failed: false });
    expect(failed?.detail).toMatch(says);
    expect(failed?.hint).toMatch(hint);
    expect(result?.reason).not.toBeNull();
    expect(result?.hint).not.toBeNull();
  }
  for (const { name, check, says } of REPAIRED) {
    const result = workers.find(({ address }) => address === `api/${name}`);
    expect(result).toMatchObject({ ok: true, reason: null });
    expect(result?.checks.find((each) => each.check === check)).toMatchObject({ ok: true, warning: true });
    expect(result?.checks.find((each) => each.check === check)?.detail).toMatch(says);
  }
  const opened = workers.find(({ address }) => address === "api/opened");
  expect(opened).toMatchObject({ ok: false });
  expect(opened?.reason).toContain(`pid ${stranger.pid}`);
  expect(workers.find(({ address }) => address === "api/whole")).toMatchObject({ ok: true, reason: null });
  await stranger.end();

  const text = await home.perdure(["drill"]);
  expect(text.code).toBe(5);
  expect(text.stderr).toContain(`${BROKEN.length} of ${BROKEN.length + REPAIRED.length + 3} could not be resumed`);
  expect((await home.perdure(["drill", "whole"])).code).toBe(0);
});

it("one that runs, one that is lost but kept, one that never spoke and one without a conversation are all right", async () => {
  const persona = installPersona("scripted");
  const running = await persona.begin("running");
  await running.say("the secret");
  await persona.untilProved("running");
  const lost = await persona.begin("lost");
  await lost.say("the secret");
  const id = (await persona.untilProved("lost")).session?.id ?? "";
  await lost.end();
  await keptAll(persona, ["running", "lost"]);
  rmSync(persona.transcript(id) ?? "");
  await (await persona.begin("silent")).end();
  await persona.home.perdure(["run", "plain", "--", "true"]);
  const { workers } = await persona.home.json<{ workers: DrillResult[] }>(["drill"]);
  expect(workers.map(({ address, ok }) => [address, ok])).toEqual([
    ["api/lost", true],
    ["api/plain", true],
    ["api/running", true],
    ["api/silent", true],
  ]);
  expect(JSON.stringify(workers[0])).toContain("would be restored");
  await running.end();
});

/** Tells whether a path changes by itself: the store's own files and the daemon's, and the registry of live agents. */
function isLive(path: string): boolean {
  return /perdure\.db|daemon\.|logs|perdure\.sock|\/live(\/|$)|starts\./.test(path);
}

async function begin(persona: InstalledPersona, name: string): Promise<Awaited<ReturnType<InstalledPersona["begin"]>>> {
  const folder = join(persona.home.project, name);
  mkdirSync(folder);
  const program = join(persona.home.dir, "bin", "programs", name, "perdure-scripted");
  mkdirSync(join(program, ".."), { recursive: true });
  writeFileSync(program, `#!/bin/sh\nexec ${join(persona.home.dir, "bin", "perdure-scripted")} "$@"\n`);
  chmodSync(program, 0o755);
  const env = { ...persona.home.env, PERDURE_SCRIPTED_HOME: join(persona.home.dir, `config.${name}`) };
  const talk = persona.run(`api/${name}`, ["--", program], { cwd: folder, env });
  await talk.answer();
  await talk.say("the secret");
  await persona.untilProved(name);
  return talk;
}

async function keptAll(persona: InstalledPersona, names: string[]): Promise<void> {
  for (const name of names) {
    await persona.until(name, "to be copied", ({ conversation }) => {
      const { custody = null, transcript = null } = conversation ?? {};
      return custody !== null && custody.bytes === transcript?.bytes;
    });
  }
}

async function placeOf(persona: InstalledPersona, name: string): Promise<Place> {
  const { conversation } = await persona.show(name);
  const { state } = persona.home;
  const transcript = conversation?.transcript?.file ?? "";
  const bytes = readFileSync(transcript, "utf8");
  const custody = globSync("custody/*", { cwd: state })
    .map((path) => join(state, path))
    .find((path) => readFileSync(join(path, "transcript"), "utf8") === bytes);
  return {
    folder: join(persona.home.project, name),
    transcript,
    config: conversation?.configDir ?? "",
    custody: custody ?? "",
    environments: join(state, "environments"),
    program: join(persona.home.dir, "bin", "programs", name, "perdure-scripted"),
    set: (column, value) => {
      const database = new DatabaseSync(join(state, "perdure.db"));
      database.prepare(`UPDATE workers SET ${column} = ? WHERE name = ?`).run(value, name);
      database.close();
    },
  };
}
