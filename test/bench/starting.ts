import { BIN, type Home } from "../support/home.ts";
import { projectRefOf } from "../support/send-params.ts";
import { bareCall, bareStart } from "./floors/programs.ts";
import { withLeast, type Row } from "./report.ts";
import { command, interleave, milliseconds, percentile, spreadOf } from "./sampling.ts";

const ROUNDS = 40;
/** The goals of verbs that need no daemon, and of those that ask it. */
const STAYS_HERE = 1.2;
const ASKS = 1.4;

/** Cold starts, against a Node that evaluates nothing. The environment is the tests' own: no NODE_* settings. */
export async function coldStarts(home: Home): Promise<Row[]> {
  await home.perdure(["run", "reader", "--", "true"]);
  const options = { cwd: home.project, env: home.env };
  const inRun = { ...options, env: { ...home.env, PERDURE_NAME: "coder", PERDURE_PROJECT: "api" } };
  const verbs: [what: string, run: () => void, goal: number][] = [
    ["whoami, by folder", command(BIN, ["whoami"], options), STAYS_HERE],
    ["whoami, by environment", command(BIN, ["whoami", "--json"], inRun), STAYS_HERE],
    ["context path", command(BIN, ["context", "path"], inRun), STAYS_HERE],
    ["ls", command(BIN, ["ls"], options), ASKS],
    ["show", command(BIN, ["show", "reader"], options), ASKS],
    ["history", command(BIN, ["history", "reader"], options), ASKS],
    ["send", command(BIN, ["send", "reader", "hi"], options), ASKS],
    ["inbox", command(BIN, ["inbox", "reader"], options), ASKS],
    ["help", command(BIN, ["help"], options), ASKS],
  ];
  const start = bareStart(home);
  const call = bareCall(home, "show", { target: { project: null, name: "reader", here: projectRefOf(home) } });
  const least = [start, call].map(({ file, args, env }) => command(file, args, { ...options, env }));
  const contenders = [command(process.execPath, ["-e", "0"], options), ...least, ...verbs.map(([, run]) => run)];
  interleave(5, contenders);
  const [bare = [], started = [], called = [], ...times] = interleave(ROUNDS, contenders);
  const floor = percentile(bare, 0.5);
  const rows = verbs.map(([what, , goal], at): Row => {
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
  const leastRow = (what: string, figures: number[]): Pick<Row, "what" | "ours" | "value"> => {
    const took = percentile(figures, 0.5);
    return { what, ours: milliseconds(took), value: took / floor };
  };
  const isLocal = ({ goal }: Row): boolean => goal === STAYS_HERE;
  return [
    ...withLeast(rows.filter(isLocal), leastRow("an empty program behind a shell", started)),
    ...withLeast(
      rows.filter((row) => !isLocal(row)),
      leastRow("one call to the daemon, by hand, behind a shell", called),
    ),
  ];
}
