import { BIN, type Home } from "../support/home.ts";
import type { Row } from "./report.ts";
import { command, interleave, milliseconds, percentile, spreadOf } from "./sampling.ts";

const ROUNDS = 40;

/** Cold starts, against a Node that evaluates nothing. The environment is the tests' own: no NODE_* settings. */
export async function coldStarts(home: Home): Promise<Row[]> {
  await home.perdure(["run", "reader", "--", "true"]);
  const options = { cwd: home.project, env: home.env };
  const inRun = { ...options, env: { ...home.env, PERDURE_NAME: "coder", PERDURE_PROJECT: "api" } };
  const verbs: [what: string, run: () => void, goal: number][] = [
    ["whoami, by folder", command(BIN, ["whoami"], options), 1.2],
    ["whoami, by environment", command(BIN, ["whoami", "--json"], inRun), 1.2],
    ["context path", command(BIN, ["context", "path"], inRun), 1.2],
    ["ls", command(BIN, ["ls"], options), 1.4],
    ["show", command(BIN, ["show", "reader"], options), 1.4],
    ["history", command(BIN, ["history", "reader"], options), 1.4],
    ["send", command(BIN, ["send", "reader", "hi"], options), 1.4],
    ["inbox", command(BIN, ["inbox", "reader"], options), 1.4],
    ["help", command(BIN, ["help"], options), 1.4],
  ];
  const contenders = [command(process.execPath, ["-e", "0"], options), ...verbs.map(([, run]) => run)];
  interleave(5, contenders);
  const [bare = [], ...times] = interleave(ROUNDS, contenders);
  const floor = percentile(bare, 0.5);
  return verbs.map(([what, , goal], at) => {
    const ours = percentile(times[at] ?? [], 0.5);
    return {
      what,
      ours: milliseconds(ours),
      floor: `${milliseconds(floor)} node -e 0`,
      value: ours / floor,
      goal,
      spread: spreadOf(bare),
    };
  });
}
