import { expect, test } from "vitest";
import type { ClaimGrant } from "../../src/protocol/records/launch.ts";
import { workerEnvironment } from "../../src/launch/environment.ts";

const grantIn = (folder: string): ClaimGrant =>
  ({
    project: "api",
    name: "coder",
    address: "api/coder",
    run: "h.api.coder.1",
    generation: 1,
    runDir: `${folder}/runs/h.api.coder.1`,
  }) as ClaimGrant;

test("a worker's own variables replace those of the run that it was started in", () => {
  const env = {
    HOME: "/h",
    PERDURE_RUN: "h.api.other.1",
    PERDURE_SIGIGN: "1",
    AI_AGENT_ID: "h.api.other.1",
    MINE: "m",
  };
  const made = workerEnvironment(env, grantIn("/h/.local/state/perdure"));
  expect(made).toMatchObject({ HOME: "/h", MINE: "m", PERDURE_RUN: "h.api.coder.1", AI_AGENT_ID: "h.api.coder.1" });
  expect(made).not.toHaveProperty("PERDURE_SIGIGN");
  expect(made).not.toHaveProperty("PERDURE_HOME");
});

test("a worker of another state folder than its variables lead to is told which, so that its commands find its daemon", () => {
  expect(workerEnvironment({ HOME: "/h" }, grantIn("/srv/state")).PERDURE_HOME).toBe("/srv/state");
  expect(workerEnvironment({ HOME: "/h", XDG_STATE_HOME: "/srv" }, grantIn("/srv/perdure"))).not.toHaveProperty(
    "PERDURE_HOME",
  );
});
