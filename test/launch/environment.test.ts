import { expect, test } from "vitest";
import type { ClaimGrant } from "../../src/protocol/records/launch.ts";
import { workerEnvironment, workerlessEnvironment } from "../../src/launch/environment.ts";

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

test("its own telemetry says which worker and run it is, behind the user's attributes, and never two runs", () => {
  const grant = grantIn("/h/.local/state/perdure");
  const attributes = (value?: string): string | undefined =>
    workerEnvironment({ HOME: "/h", OTEL_RESOURCE_ATTRIBUTES: value }, grant).OTEL_RESOURCE_ATTRIBUTES;
  const ours = "perdure.worker=api/coder,perdure.run=h.api.coder.1";
  expect(attributes()).toBe(ours);
  expect(attributes("")).toBe(ours);
  expect(attributes("team=a%2Cb,service.name=x")).toBe(`team=a%2Cb,service.name=x,${ours}`);
  // What a program of an outer run hands on, as what a resume finds that was started with it.
  expect(attributes(`team=a,perdure.worker=api/other,perdure.run=h.api.other.7,last=z,`)).toBe(`team=a,last=z,${ours}`);
  expect(attributes(attributes("team=a"))).toBe(`team=a,${ours}`);
  // A user's own keys that only look alike stay.
  expect(attributes("perdure.running=1,my.perdure.run=2")).toBe(`perdure.running=1,my.perdure.run=2,${ours}`);
});

test("whoever is no worker has only the user's attributes", () => {
  const inside = workerEnvironment({ OTEL_RESOURCE_ATTRIBUTES: "team=a" }, grantIn("/h/.local/state/perdure"));
  expect(workerlessEnvironment(inside)).toMatchObject({ OTEL_RESOURCE_ATTRIBUTES: "team=a" });
  expect(workerlessEnvironment({ OTEL_RESOURCE_ATTRIBUTES: "perdure.run=r" })).toEqual({});
});

test("names are percent-encoded as attributes want it", () => {
  const grant = { ...grantIn("/s"), address: "api/co,d=e r", run: 'ä;"1' };
  expect(workerEnvironment({}, grant).OTEL_RESOURCE_ATTRIBUTES).toBe(
    "perdure.worker=api/co%2Cd%3De%20r,perdure.run=%C3%A4%3B%221",
  );
});
