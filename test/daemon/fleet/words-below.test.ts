import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { fleetHome } from "../../support/fleet-home.ts";
import { until } from "../../terminal/tmux.ts";

it("a worker that has ended says below its last screen what brings it back, until it is back", async () => {
  const fleet = fleetHome("");
  await fleet.perdure(["up", "plain", "--", "sh", "-c", "read line"]);
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-S", `${fleet.state}/tmux`, ...args], { env: fleet.env, encoding: "utf8" }).trim();
  const says = (): string => tmux("display-message", "-p", "-t", "=api:1", "#{@perdure_says}");
  tmux("send-keys", "-t", "=api:1", "Enter");
  await until("the words", () => (says() === "→ perdure up api/plain" ? true : null));
  expect(tmux("display-message", "-p", "-t", "=api:1", "#{pane_dead} #{pane-border-status}")).toBe("1 bottom");
  await fleet.perdure(["up", "plain"]);
  await until("no words", () => (says() === "" ? true : null));
});
