import { HISTORY_ROWS_DEFAULT, HISTORY_RUNS_READ, LIST_ROWS_MAX } from "../../limits/index.ts";
import type { RunRecord } from "../../protocol/records/run.ts";
import type { SessionRecord } from "../../protocol/records/conversation.ts";
import { missingIn } from "../../protocol/records/restored.ts";
import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { printable, type Paint } from "../shared/output.ts";
import { age, shortId, size, table, type Cell } from "../shared/table/table.ts";

export const history: Command = {
  summary: "list the runs and the conversations of one worker, newest first",
  usage: "NAME [options]",
  details: [
    "A conversation is marked ✓ when the vendor's own process has shown it, ? until then, ✗ when it showed another. On a",
    "terminal long lines are cut.",
  ].join("\n"),
  examples: ["perdure history coder", "perdure history coder --limit 5 --json"],
  options: {
    limit: { value: "N", short: "n", about: "the last N runs at most" },
    long: { short: "l", about: "add the evidence, and each run's id and end; cut nothing" },
  },
  completes: ["worker"],
  words: [1, 1],

  async run({ words, values, out }) {
    const given = wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX });
    const isGrouped = !out.json && values.long !== true;
    const limit = given ?? (isGrouped ? HISTORY_RUNS_READ : HISTORY_ROWS_DEFAULT);
    const { items: runs, result } = await listFromDaemon("history", { target: targetOf(words[0] ?? ""), limit });
    out.result({ ...result, runs }, () => {
      const rowsMax = given ?? HISTORY_ROWS_DEFAULT;
      const options: TableOptions =
        values.long === true
          ? { long: true, columns: Infinity, rowsMax }
          : { long: false, columns: out.columns, rowsMax };
      const parts = [result.address, runTable(runs, out.paint, options)];
      if (result.sessions.length > 0) parts.push("", conversationTable(result.sessions, out.paint, options.columns));
      parts.push(...result.sessions.flatMap(restoredNote).map(printable));
      return parts.join("\n");
    });
  },
};

interface TableOptions {
  long: boolean;
  columns: number;
  rowsMax: number;
}

function runTable(runs: RunRecord[], paint: Paint, { long, columns, rowsMax }: TableOptions): string {
  const begun = firstRuns(runs);
  const groups = long ? runs.map((run) => [run]) : alikeTurns(runs);
  const rows = groups.slice(0, rowsMax).map((alike): (string | Cell)[] => {
    const [run] = alike;
    if (run === undefined || alike.length > 1) return turnsRow(alike, begun, paint);
    return runRow(run, begun, paint, long);
  });
  const times = long ? ["ID", "STARTED", "ENDED"] : ["STARTED", "LASTED"];
  return table(["RUN", ...times, "EXIT", "REASON", "CONVERSATION"], rows, paint.dim, columns);
}

function runRow(run: RunRecord, begun: ReadonlyMap<string, number>, paint: Paint, long: boolean): (string | Cell)[] {
  const turn = run.turn?.outcome ? `turn ${run.turn.outcome}` : null;
  return [
    String(run.generation),
    ...(long ? [run.id, run.startedAt, run.endedAt ?? "-"] : [run.startedAt.replace(/\.\d+Z$/, "Z"), lasted(run)]),
    run.exit === null ? "-" : String(run.exit),
    { text: turn ?? run.reason ?? "running", paint: run.reason === null ? paint.green : paint.dim },
    conversationsOf(run, begun, long) || "-",
  ];
}

/** Groups turns in a row that went well, but for the newest of them: there may be hundreds, and one row says as much. */
function alikeTurns(runs: readonly RunRecord[]): RunRecord[][] {
  const groups: RunRecord[][] = [];
  for (const run of runs) {
    const [before, newest] = [groups.at(-1), groups.at(-2)];
    const isAlike = wentWell(run) && before?.every(wentWell) === true && newest?.every(wentWell) === true;
    if (isAlike && before[0]?.sessionId === run.sessionId) before.push(run);
    else groups.push([run]);
  }
  return groups;
}

function wentWell({ turn }: RunRecord): boolean {
  return turn?.outcome === "answered" || turn?.outcome === "done";
}

function turnsRow(runs: readonly RunRecord[], begun: ReadonlyMap<string, number>, paint: Paint): (string | Cell)[] {
  const [newest, oldest] = [runs[0], runs.at(-1)];
  return [
    `${oldest?.generation}-${newest?.generation}`,
    (oldest?.startedAt ?? "").replace(/\.\d+Z$/, "Z"),
    "-",
    runs.every(({ exit }) => exit === 0) ? "0" : "-",
    { text: `${runs.length} turns, all well`, paint: paint.dim },
    newest ? conversationsOf(newest, begun, false) || "-" : "-",
  ];
}

/** Maps each conversation to the number of the first listed run that was in it. */
function firstRuns(runs: readonly RunRecord[]): Map<string, number> {
  const begun = new Map<string, number>();
  for (const { generation, sessions } of runs) {
    for (const { id } of sessions) begun.set(id, Math.min(generation, begun.get(id) ?? generation));
  }
  return begun;
}

function lasted({ startedAt, endedAt }: RunRecord): string {
  return age(startedAt, endedAt === null ? Date.now() : Date.parse(endedAt));
}

/**
 * Lists the conversations of a run: `resumed …3f2a ✓; rotated to …77c0 ✓`, or with the evidence:
 * `resumed …3f2a (verified: SessionStart hook (resume))`.
 */
function conversationsOf(
  { generation, sessions, displacedBy }: RunRecord,
  begun: ReadonlyMap<string, number>,
  long: boolean,
): string {
  const entries = sessions.map(({ id, began, proved, evidence }) => {
    const proof = proved === "pending" ? "not verified yet" : `${proved ? "verified" : "WRONG"}: ${evidence}`;
    const mark = proved === "pending" ? "?" : proved ? "✓" : "✗ WRONG";
    // Nothing was said in it before, so the vendor begins it once more, under its id.
    const isAgain = began === "new" && (begun.get(id) ?? generation) < generation;
    return `${isAgain ? "begun again" : BEGAN[began]} ${shortId(id)} ${long ? `(${proof})` : mark}`;
  });
  return [...(displacedBy ? [`displaced by ${displacedBy}`] : []), ...entries].join("; ");
}

const BEGAN = { new: "new", resume: "resumed", rotation: "rotated to" } as const;

/** Names the conversation before this one, or the one it is a branch of. */
function predecessor({ rotatedFrom, forkedFrom }: SessionRecord): string {
  if (forkedFrom !== null) return `branch of ${shortId(forkedFrom)}`;
  return rotatedFrom === null ? "-" : shortId(rotatedFrom);
}

/** Says what was missing when a conversation was put back. */
function restoredNote({ id, restored }: SessionRecord): string[] {
  const missing = restored === null ? "" : missingIn(restored);
  return restored === null || missing === "" ? [] : [`${shortId(id)} was restored at ${restored.at}${missing}`];
}

function conversationTable(sessions: SessionRecord[], paint: Paint, columns: number): string {
  const rows = sessions.map((session): (string | Cell)[] => [
    { text: session.current ? "●" : "", paint: paint.green },
    { text: session.id, paint: session.current ? paint.bold : paint.dim },
    session.vendor,
    SET_BY[session.provenance] ?? session.vendor,
    predecessor(session),
    { text: verified(session), paint: session.proved === false ? paint.red : paint.dim },
    session.custody ? `${size(session.custody.bytes)}, ${age(session.custody.at)} ago` : "-",
    session.launchCwd,
  ]);
  const header = ["", "CONVERSATION", "VENDOR", "SET BY", "AFTER", "VERIFIED", "COPY KEPT", "FOLDER"];
  return table(header, rows, paint.dim, columns);
}

/** Who chose the conversation, by how its id is known; a vendor that mints ids is named itself. */
const SET_BY: Readonly<Record<string, string>> = { assigned: "perdure", rotated: "its program", adopted: "adopt" };

function verified({ proved }: SessionRecord): string {
  return proved === "pending" ? "not yet" : proved ? "yes" : "no";
}
