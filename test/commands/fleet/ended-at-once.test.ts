import { expect, onTestFinished, test } from "vitest";
import { fleetHome } from "../../support/fleet-home.ts";
import { Shell } from "../../terminal/shell.ts";
import { Tmux } from "../../terminal/tmux.ts";

test("at a terminal up does not count what fails at once, and says where its words are", async () => {
  const fleet = fleetHome(
    `[workers.coder]\nvendor = "scripted"\n[workers.wrong]\ncommand = ["sh", "-c", "exit 3"]\n[workers.done]\ncommand = ["true"]\n`,
  );
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  const shell = await Shell.start(tmux, fleet);
  const { pane } = shell;
  await pane.line("$P up --yes");
  expect(await shell.status()).toBe(5);
  await pane.shows(
    /wrong +✗ ended at once: exited 3[^\n]*\n +→ perdure logs wrong\n2 up, 3 started, 0 already running, 1 ended at once/,
  );
  // A script is not kept waiting, and has `wait` for that.
  await fleet.down();
  expect(await fleet.perdure(["up", "--yes"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("3 started") as string,
  });
});
