import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { AttentionItem } from "../../../src/commands/shared/table/attention-list.ts";
import { Home } from "../../support/home.ts";

interface Overview {
  saved: string | null;
  needs: AttentionItem[];
  unread: number;
  next: string;
}

function freshHome(): Home {
  const home = new Home();
  onTestFinished(() => home.clear());
  return home;
}

test("bare perdure says how to begin: with init, and with a fleet file by bringing it up", async () => {
  const home = freshHome();
  expect(await home.json<Overview>([])).toMatchObject({ needs: [], unread: 0, saved: null, next: "perdure init" });
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\nvendor = "scripted"\ncount = 2\n');
  expect(await home.json<Overview>([])).toMatchObject({ next: "perdure up" });
  expect((await home.perdure([])).stdout).toMatch(/^api {2}~\/api\n\n→ perdure up {3}start all 2 of perdure\.toml\n$/);
});

test("bare perdure shows the saved session, the workers, the operator's mail and what to type", async () => {
  const home = freshHome();
  await home.perdure(["run", "coder", "--vendor", "scripted"]);
  await home.until("coder", ({ state }) => state === "stopped");
  expect(await home.json<Overview>([])).toMatchObject({ needs: [], saved: null, next: "perdure run coder" });
  await home.perdure(["save", "friday", "--follow"]);
  await home.perdure(["send", "operator", "look at this"]);
  const seen = await home.json<Overview>([]);
  expect(seen).toMatchObject({ saved: "friday", unread: 1, next: "perdure inbox" });
  expect(seen.needs).toEqual([{ name: "operator", why: "1 unread message", command: "perdure inbox" }]);
  const { stdout } = await home.perdure([]);
  expect(stdout).toMatch(/^api .* saved session friday\n\nNAME .*\ncoder +scripted +○ stopped/);
  expect(stdout).toMatch(/\nNeeds you\n {2}operator {2}perdure inbox {2}1 unread message\n\n→ perdure inbox\n$/);
  // Looking takes nothing.
  expect(await home.json<Overview>([])).toMatchObject({ unread: 1 });
});

test("a mistake in the fleet file is one need among the others", async () => {
  const home = freshHome();
  await home.perdure(["run", "coder", "--vendor", "scripted"]);
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\nvendor = "scripted"\nprompt = "gone.md"\n');
  const { needs } = await home.json<Overview>([]);
  expect(needs).toEqual([
    { name: "perdure.toml", why: expect.stringContaining("gone.md") as string, command: "perdure doctor" },
  ]);
});
