import { expect, onTestFinished, test } from "vitest";
import { UpgradeHome } from "./upgrade-home.ts";

test("the new command line works with the daemon of the version before, which still runs", async () => {
  const home = new UpgradeHome(`[workers.coder]\nvendor = "scripted"\n`);
  onTestFinished(() => home.clear());
  await home.perdure(["daemon", "start"]);
  expect(await home.runNew(["run", "plain", "--", "sh", "-c", "exit 3"])).toMatchObject({ code: 3 });
  for (const vendor of ["claude", "codex"]) {
    const first = await home.runNew(["run", vendor, "--", vendor], { stdio: ["ignore", "pipe", "pipe"] });
    expect(first.stderr).not.toContain("unknown field");
    expect(first).toMatchObject({ code: 0 });
  }
  expect(await home.runNew(["run", "codex", "--fresh"], { stdio: ["ignore", "pipe", "pipe"] })).toMatchObject({
    code: 0,
  });
  expect(await home.runNew(["send", "plain", "hi"])).toMatchObject({ code: 0 });
  expect(await home.runNew(["ls"])).toMatchObject({ code: 0, stdout: expect.stringContaining("codex") });
  expect(await home.runNew(["up", "--yes"])).toMatchObject({ code: 0 });
});
