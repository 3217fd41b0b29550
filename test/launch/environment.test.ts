import { expect, test } from "vitest";
import { recordedEnvironment } from "../../src/launch/environment.ts";

test("known variables are recorded; those of the parent's run, and all others, are not", () => {
  const env = {
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    https_proxy: "p",
    ANTHROPIC_API_KEY: "k",
    PI_CODING_AGENT_DIR: "d",
    MINE: "m",
    OTHER: "o",
  };
  const ours = {
    PERDURE_RUN: "r",
    PERDURE_TOKEN: "t",
    PERDURE_NAME: "n",
    AI_AGENT_ID: "r",
    PI_INTERCOM_SESSION_NAME: "n",
    PI_INTERCOM_SCOPE_ID: "p",
  };
  const { OTHER: _other, ...kept } = env;
  expect(recordedEnvironment({ ...env, ...ours }, ["MINE", "PERDURE_TOKEN"])).toEqual(kept);
});
