import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WorkerSummary } from "../../../../src/protocol/records/worker.ts";
import { eventually } from "../../../support/check.ts";
import { BIN } from "../../../support/home.ts";
import { personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();

test("the operator sees what was said last, without secrets; another agent does not", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  const env = { ...home.env, ANTHROPIC_API_KEY: "a value of the environment" };
  const talk = await persona.begin("coder", [], { env });
  await talk.say("log in with DB_PASSWORD=hunter2, not with a value of the environment");
  let words: string | undefined;
  await eventually("words of coder", async () => {
    const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
    words = workers.find(({ name }) => name === "coder")?.words;
    return words?.includes("turns=1") === true;
  });
  expect(words).toMatch(/log in with DB_PASSWORD=… not with …/);
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  expect(words).not.toMatch(/hunter2|environment|[\u0000-\u001f]/);

  const seen = join(home.dir, "seen.json");
  await home.perdure(["run", "curious", "--", "sh", "-c", `${BIN} ls --json > ${seen}`]);
  const { workers } = JSON.parse(readFileSync(seen, "utf8")) as { workers: WorkerSummary[] };
  expect(workers.map(({ name }) => name)).toEqual(["coder", "curious"]);
  expect(workers.filter((worker) => worker.words !== undefined)).toEqual([]);
  await talk.end();
  // What does not run says nothing.
  const { workers: stopped } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  expect(stopped.find(({ name }) => name === "coder")).not.toHaveProperty("words");
});
