import { BIN, type Home } from "../support/home.ts";
import type { Row } from "./report.ts";
import { command, interleave, percentile } from "./sampling.ts";

const ROUNDS = 60;

/** Cold starts, against a Node that evaluates nothing. The environment is the tests' own: no NODE_* settings. */
export function coldStarts(home: Home): Row[] {
  const options = { cwd: home.project, env: home.env };
  const inRun = { ...options, env: { ...home.env, PERDURE_NAME: "coder", PERDURE_PROJECT: "api" } };
  const contenders = [
    command(process.execPath, ["-e", "0"], options),
    command(BIN, ["whoami"], options),
    command(BIN, ["whoami", "--json"], inRun),
    command(BIN, ["context", "path"], inRun),
    command(BIN, ["ls"], options),
  ];
  interleave(5, contenders);
  const [floor = Number.NaN, here, named, context, ls] = interleave(ROUNDS, contenders).map((times) =>
    percentile(times, 0.5),
  );
  const row = (what: string, ours = Number.NaN, goal: number): Row => {
    return {
      what,
      ours: `${ours.toFixed(1)} ms`,
      floor: `${floor.toFixed(1)} ms node -e 0`,
      value: ours / floor,
      goal,
      unit: "×",
    };
  };
  return [
    row("whoami, by folder", here, 1.25),
    row("whoami, by environment", named, 1.25),
    row("context path", context, 1.25),
    row("ls, through the daemon", ls, Number.POSITIVE_INFINITY),
  ];
}
