import * as z from "zod/mini";
import { ANCHORS_PER_CALL, LIST_ROWS_MAX } from "../../limits/index.ts";
import type { Admitted, MailState, MailStep, MessageRecord } from "../records/mail.ts";
import type { DownItem, PaneRecord, ScreenRecord, UpItem, UpResult, SavedRecord } from "../records/fleet.ts";
import { fleetCalls } from "./fleet.ts";
import { mailCalls } from "./mail.ts";
import {
  generation,
  launch,
  limit,
  name,
  path,
  pid,
  place,
  runId,
  sessionId,
  target,
  text,
  token,
  whole,
} from "./shapes.ts";
import type { DrillResult, FoundRecord, SessionRecord } from "../records/conversation.ts";
import type { AnchorOwner, RunRecord, TakeoverResult } from "../records/run.ts";
import type { CheckResult, DaemonStatus, EventRecord, ProjectSummary } from "../records/admin.ts";
import type { ClaimGrant, LaunchOrder, Restored } from "../records/launch.ts";
import type { WorkerDetail, WorkerSummary } from "../records/worker.ts";

// The calls a client can make, as the daemon checks them at its door. The client uses the types only, so a
// command line never pays for loading the validator.

export const hello = z.strictObject({
  protocol: z.int(),
  version: text(64),
  token: z.nullable(text(128)),
});

export const callSchemas = {
  claim: z.strictObject({
    target,
    kind: z.enum(["run", "client"]),
    /** Chosen by the claimer: the same claim asked again, after an answer was lost, is the same grant. */
    token,
    pid,
    ...launch,
    /** A new conversation, although the worker is in one. */
    fresh: z.boolean(),
    /** The worker is retired when this run ends. */
    ephemeral: z.boolean(),
  }),
  /** With what was claimed for: it is kept only now that it can be started. */
  bind: z.strictObject({ run: runId, generation, token, session: sessionId, ...launch }),
  adopt: z.strictObject({
    target,
    vendor: text(64),
    session: sessionId,
    cwd: path,
    environment: z.record(z.string(), z.string()),
  }),
  /** Back to the copy that is kept of the worker's own conversation; what the vendor has is set aside. */
  restore: z.strictObject({ target }),
  fork: z.strictObject({ target, to: name }),
  conversations: z.strictObject({
    vendor: z.nullable(text(64)),
    cwd: path,
    environment: z.record(z.string(), z.string()),
  }),
  /** Without a name, the active one once more. */
  save: z.strictObject({ here: place, project: z.nullable(name), name: z.nullable(name) }),
  saved: z.strictObject({ here: place, project: z.nullable(name) }),
  forget: z.strictObject({ here: place, project: z.nullable(name), name }),
  drill: z.strictObject({
    here: place,
    project: z.nullable(name),
    all: z.boolean(),
    targets: z.array(target).check(z.maxLength(LIST_ROWS_MAX)),
  }),
  ...mailCalls,
  ...fleetCalls,
  release: z.strictObject({ run: runId, generation, token }),
  hold: z.strictObject({ run: runId, generation, token }),
  ls: z.strictObject({ here: place, project: z.nullable(name), all: z.boolean() }),
  show: z.strictObject({ target }),
  history: z.strictObject({ target, limit }),
  rename: z.strictObject({ target, to: name }),
  retire: z.strictObject({ target }),
  takeover: z.strictObject({ target, by: text(200), killAfterMs: whole(0, 600_000) }),
  project: z.strictObject({ here: place }),
  projects: z.strictObject({}),
  "project.move": z.strictObject({ here: place, old: text(64 * 1024) }),
  events: z.strictObject({
    here: place,
    all: z.boolean(),
    target: z.nullable(target),
    after: z.nullable(whole(0, Number.MAX_SAFE_INTEGER)),
    limit,
    follow: z.boolean(),
  }),
  anchors: z.strictObject({
    here: place,
    project: z.nullable(name),
    files: z.array(text(255)).check(z.maxLength(ANCHORS_PER_CALL)),
  }),
  status: z.strictObject({}),
  check: z.strictObject({}),
  backup: z.strictObject({ file: path }),
  stop: z.strictObject({}),
} as const;

export type CallName = keyof typeof callSchemas;
export type CallParams<N extends CallName> = z.infer<(typeof callSchemas)[N]>;
export type Place = z.infer<typeof place>;
export type Target = z.infer<typeof target>;

export interface CallResults {
  claim: ClaimGrant;
  bind: LaunchOrder;
  adopt: { address: string; session: SessionRecord };
  restore: { address: string; session: SessionRecord; restored: Restored };
  fork: { address: string; from: string; vendor: string; session: string };
  conversations: { count: number };
  save: SavedRecord;
  saved: { count: number };
  forget: { name: string };
  drill: { count: number; broken: number };
  send: { messages: Admitted[] };
  ask: { id: string; reply: MessageRecord };
  reply: Admitted & { replyTo: string };
  receive: { messages: MessageRecord[] };
  ack: { acked: string[]; missed: string[] };
  inbox: { count: number; paused: boolean };
  pending: { count: number };
  mail: { message: MessageRecord; steps: MailStep[]; reply: MessageRecord | null };
  cancel: { id: string; state: MailState };
  redeliver: { id: string; state: MailState };
  pause: { address: string; paused: boolean };
  trust: { project: string; digest: string };
  trusted: { trusted: boolean; before: { text: string; prompts: string } | null };
  up: UpResult;
  down: { stopped: number; failed: number; count: number };
  restart: UpItem;
  pane: PaneRecord;
  screen: ScreenRecord;
  release: { released: true };
  hold: { held: false };
  ls: { count: number };
  show: WorkerDetail;
  history: { address: string; sessions: SessionRecord[] };
  rename: { address: string; from: string };
  retire: { address: string };
  takeover: TakeoverResult;
  project: ProjectSummary;
  projects: { count: number };
  "project.move": ProjectSummary;
  events: { last: number };
  anchors: { known: AnchorOwner[] };
  status: DaemonStatus;
  check: CheckResult;
  backup: { file: string; bytes: number };
  stop: { pid: number };
}

/** What a streaming call sends before its result. */
export interface StreamItems {
  ls: WorkerSummary;
  projects: ProjectSummary;
  history: RunRecord;
  events: EventRecord;
  conversations: FoundRecord;
  saved: SavedRecord;
  drill: DrillResult;
  inbox: MessageRecord;
  pending: MessageRecord;
  up: UpItem;
  down: DownItem;
  /** Sent once, when the run lost its name to somebody. */
  hold: { displacedBy: string };
}
