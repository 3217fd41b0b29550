import { NAMED_WORKERS_MAX } from "../../limits/index.ts";
import { MAIL_STATES, type MailState } from "../../protocol/records/mail.ts";
import type { Metric, MetricSample } from "../../protocol/records/metrics.ts";
import { isNeed } from "../../protocol/records/needs.ts";
import type { WorkerState, WorkerSummary } from "../../protocol/records/worker.ts";
import { VERSION } from "../../protocol/version.ts";
import { countMailByState, countOperatorMail, custodyFigures } from "../../store/metrics.ts";
import { allProjects } from "../../store/projects.ts";
import { workersOfProject } from "../../store/workers.ts";
import type { Histogram } from "../../util/histogram.ts";
import { describeWorker } from "./describe.ts";
import type { EventCounts } from "./event-counts.ts";
import type { StatusServices } from "./services.ts";

interface MetricServices extends StatusServices {
  readonly eventCounts: EventCounts;
}

interface DaemonFigures {
  connections: number;
  uptimeMs: number;
}

/** Reads all figures at once. Labels have few values; only workers that need somebody are named. */
export function readMetrics(services: MetricServices, daemon: DaemonFigures): Metric[] {
  services.eventCounts.update();
  const workers = allProjects(services.db).flatMap((project) =>
    workersOfProject(services.db, project.id).map((worker) => describeWorker(services, project, worker).summary),
  );
  return [
    ...daemonMetrics(services, daemon),
    ...workerMetrics(workers),
    ...eventMetrics(services),
    ...mailMetrics(services),
    ...custodyMetrics(services),
  ];
}

function daemonMetrics({ writer, runs }: MetricServices, { connections, uptimeMs }: DaemonFigures): Metric[] {
  return [
    gauge("perdure_daemon_info", "The version of the daemon; the value is always 1.", [[{ version: VERSION }, 1]]),
    gauge("perdure_daemon_uptime_seconds", "Time since the daemon's start.", [[{}, uptimeMs / 1000]]),
    gauge("perdure_daemon_resident_memory_bytes", "Memory of the daemon's process.", [[{}, process.memoryUsage.rss()]]),
    gauge("perdure_daemon_connections", "Open connections to the daemon.", [[{}, connections]]),
    gauge("perdure_runs_live", "Runs that own a name now.", [[{}, runs.size]]),
    histogram(
      "perdure_commit_duration_seconds",
      "Time that commits to the store took, with their changes and the sync.",
      writer.commits,
    ),
  ];
}

function workerMetrics(workers: readonly WorkerSummary[]): Metric[] {
  const count = (isCounted: (worker: WorkerSummary) => boolean): number => workers.filter(isCounted).length;
  const needy = workers.filter(({ state }) => isNeed(state));
  const named = needy.slice(0, NAMED_WORKERS_MAX);
  return [
    gauge(
      "perdure_workers",
      "Workers by state, over all projects.",
      Object.keys(STATES).map((state) => [{ state }, count((worker) => worker.state === state)]),
    ),
    gauge(
      "perdure_workers_by_proof",
      "Workers with a conversation, by whether their agent has proved to be in it.",
      (["true", "false", "pending"] as const).map((proved) => [
        { proved },
        count(({ session }) => session !== null && String(session.proved) === proved),
      ]),
    ),
    gauge("perdure_workers_needing_you", "Workers that need a person.", [[{}, needy.length]]),
    gauge(
      "perdure_needs_you",
      `1 for each worker that needs a person, with the reason's kind; ${NAMED_WORKERS_MAX} at most.`,
      named.map(({ project, name, state }) => [{ project, worker: name, state }, 1]),
    ),
  ];
}

function eventMetrics({ eventCounts, fleet }: MetricServices): Metric[] {
  return [
    counter("perdure_run_ends_total", "Runs that have ended, by reason.", "reason", eventCounts.runEnds),
    {
      ...gauge("perdure_restarts_total", "Starts of workers by perdure itself, after they had ended.", [
        [{}, fleet.restartsMade],
      ]),
      type: "counter",
    },
    counter(
      "perdure_turns_total",
      "Turns that were begun by mail and have ended.",
      "outcome",
      eventCounts.turnOutcomes,
    ),
    histogram("perdure_turn_duration_seconds", "Time from the start of a turn to its outcome.", eventCounts.turns),
    counter(
      "perdure_proofs_total",
      "Results of looking which conversation an agent is in.",
      "result",
      eventCounts.proofs,
    ),
  ];
}

function mailMetrics({ db, mail }: MetricServices): Metric[] {
  const counts = new Map(countMailByState(db).map((each) => [each.state, each]));
  const states = MAIL_STATES.filter((state) => state !== "read" && state !== "answered");
  const ageOf = (state: MailState): number => {
    const oldest = counts.get(state)?.oldestMs;
    return oldest === undefined ? 0 : Math.max(0, mail.now() - oldest) / 1000;
  };
  return [
    gauge(
      "perdure_mail_messages",
      "Messages on their way, and those that did not arrive and are still kept, by state.",
      states.map((state) => [{ state }, counts.get(state)?.messages ?? 0]),
    ),
    gauge(
      "perdure_mail_oldest_seconds",
      "Age of the oldest message on its way, by state; 0 if none is.",
      MAIL_ON_THE_WAY.map((state) => [{ state }, ageOf(state)]),
    ),
    gauge("perdure_operator_mail_unread", "Messages to the operator on their way.", [[{}, countOperatorMail(db)]]),
  ];
}

function custodyMetrics({ db, now }: MetricServices): Metric[] {
  const { copies, missing, oldestMs, newestMs } = custodyFigures(db);
  const ages = Object.entries({ oldest: oldestMs, newest: newestMs }).flatMap(([copy, at]): LabelledValue[] =>
    at === null ? [] : [[{ copy }, Math.max(0, now() - at) / 1000]],
  );
  return [
    gauge("perdure_custody_copies", "Copies of conversations that workers would be resumed in.", [[{}, copies]]),
    gauge("perdure_custody_missing", "Conversations of workers with a transcript and without a copy.", [[{}, missing]]),
    gauge(
      "perdure_custody_age_seconds",
      "Time since the oldest and the newest of the copies was made; one is made when its transcript grows.",
      ages,
    ),
  ];
}

/** The states of messages that something is still to become of: the age of one tells what waits too long. */
const MAIL_ON_THE_WAY = ["queued", "offered", "injected"] as const satisfies readonly MailState[];

type LabelledValue = [labels: Record<string, string>, value: number];

function gauge(name: string, help: string, values: readonly LabelledValue[]): Metric {
  return { name, type: "gauge", help, samples: values.map(([labels, value]) => ({ name, labels, value })) };
}

function counter(name: string, help: string, label: string, counts: ReadonlyMap<string, number>): Metric {
  const values = Array.from(counts, ([key, count]): LabelledValue => [{ [label]: key }, count]);
  return { ...gauge(name, help, values), type: "counter" };
}

function histogram(name: string, help: string, times: Histogram): Metric {
  const bucket = (le: string, value: number): MetricSample => ({ name: `${name}_bucket`, labels: { le }, value });
  const within = times.cumulative();
  const samples = [
    ...times.bounds.map((bound, at) => bucket(String(bound), within[at] ?? 0)),
    bucket("+Inf", times.count),
    { name: `${name}_sum`, labels: {}, value: times.sum },
    { name: `${name}_count`, labels: {}, value: times.count },
  ];
  return { name, type: "histogram", help, samples };
}

/** Every state has its figure, also where no worker is in it: a rule that watches one finds it. */
const STATES = {
  stopped: true,
  starting: true,
  running: true,
  asleep: true,
  turning: true,
  idle: true,
  busy: true,
  blocked: true,
  "backing-off": true,
  "crash-looping": true,
  "on-hold": true,
  paused: true,
  displaced: true,
  unresumable: true,
} satisfies Record<WorkerState, true>;
