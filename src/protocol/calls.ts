import { z } from "zod";
import { LIST_ROWS_MAX, NAME_CHARS_MAX } from "../limits.ts";
import type {
  CheckResult,
  ClaimGrant,
  DaemonStatus,
  EventRecord,
  History,
  ProjectSummary,
  TakeoverResult,
  WorkerDetail,
  WorkerSummary,
} from "./results.ts";

// The calls a client can make, as the daemon checks them at its door. The client uses the types only, so a
// command line never pays for loading the validator.

const path = z.string().min(1).max(4096).startsWith("/");
const name = z.string().min(1).max(4 * NAME_CHARS_MAX);
const runId = z.string().min(1).max(255);
const generation = z.number().int().nonnegative();
const pid = z.number().int().positive();

/** The folder the caller stands in, as it sees it; the daemon decides which project that is. */
const place = z.strictObject({ identity: path, root: path, base: name });

/** A worker by `project/name`, or by name alone in the caller's project. */
const target = z.strictObject({ project: name.nullable(), name, here: place });

const limit = z.number().int().positive().max(LIST_ROWS_MAX);

export const hello = z.strictObject({
  protocol: z.number().int(),
  version: z.string().max(64),
  token: z.string().max(128).nullable(),
});

export const callSchemas = {
  claim: z.strictObject({
    target,
    kind: z.enum(["run", "client"]),
    pid,
    command: z.array(z.string()).min(1).nullable(),
    cwd: path.nullable(),
    environment: z.record(z.string(), z.string()),
  }),
  release: z.strictObject({ run: runId, generation }),
  ls: z.strictObject({ here: place, project: name.nullable(), all: z.boolean() }),
  show: z.strictObject({ target }),
  history: z.strictObject({ target, limit }),
  rename: z.strictObject({ target, to: name }),
  retire: z.strictObject({ target }),
  takeover: z.strictObject({ target, by: z.string().max(200), killAfterMs: z.number().int().min(0).max(600_000) }),
  project: z.strictObject({ here: place }),
  projects: z.strictObject({}),
  "project.move": z.strictObject({ here: place, old: z.string().min(1).max(4096) }),
  events: z.strictObject({
    here: place,
    all: z.boolean(),
    target: target.nullable(),
    after: z.number().int().nonnegative().nullable(),
    limit,
    follow: z.boolean(),
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
export type Hello = z.infer<typeof hello>;

export interface CallResults {
  claim: ClaimGrant;
  release: { released: true };
  ls: { workers: WorkerSummary[] };
  show: WorkerDetail;
  history: History;
  rename: { address: string; from: string };
  retire: { address: string };
  takeover: TakeoverResult;
  project: ProjectSummary;
  projects: { projects: ProjectSummary[] };
  "project.move": ProjectSummary;
  events: { last: number };
  status: DaemonStatus;
  check: CheckResult;
  backup: { file: string; bytes: number };
  stop: { pid: number };
}

/** What a streaming call sends before its result. */
export interface StreamItems {
  events: EventRecord;
}
