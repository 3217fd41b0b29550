import * as z from "zod/mini";
import {
  ABOUT_CHARS_MAX,
  CONFIG_BYTES_MAX,
  FLEET_WORKERS_MAX,
  PROMPT_BYTES_MAX,
  SCREEN_LINES_MAX,
  TURNS_FROM_MAX,
} from "../../limits/index.ts";
import type { DownItem, PaneRecord, SavedRecord, ScreenRecord, UpItem, UpResult } from "../records/fleet.ts";
import { typeOnly, type CallTable } from "./entry.ts";
import { environment, killAfterMs, launch, name, projectRef, runId, target, text, whole } from "./shapes.ts";

/** A fleet file: nothing of it runs before the operator has agreed to its content. */
const fleetFile = {
  text: z.string().check(z.maxLength(CONFIG_BYTES_MAX)),
  /** The hashes of all first prompts, by worker. */
  prompts: text(CONFIG_BYTES_MAX),
};

const worker = z.strictObject({
  name,
  ...launch,
  group: z.nullable(name),
  restart: z.enum(["never", "on-failure", "always"]),
  prompt: z.nullable(z.string().check(z.maxLength(PROMPT_BYTES_MAX))),
  openFiles: z.nullable(whole(1, Number.MAX_SAFE_INTEGER)),
  about: z.optional(z.string().check(z.maxLength(ABOUT_CHARS_MAX))),
  /** A worker of turns has no process between messages. Absent: it runs in a pane. */
  mode: z.optional(z.enum(["tmux", "turn"])),
  /** The senders whose mail may begin a turn; absent for the default. */
  turnsFrom: z.optional(z.array(name).check(z.maxLength(TURNS_FROM_MAX))),
  /** The mail that begins a turn: all of it, or only what waits for an answer. */
  activate: z.optional(z.enum(["mail", "ask"])),
});

/** The workers that a fleet file declares, their panes, and their saved sessions. */
export const fleetCalls = {
  /** The operator agrees to run what this file says. */
  trust: {
    params: z.strictObject({ here: projectRef, ...fleetFile }),
    result: typeOnly<{ project: string; digest: string }>(),
    agentsMay: false,
    changes: true,
  },
  /** Says whether this file is trusted, and else which content was trusted before. */
  checkTrust: {
    params: z.strictObject({ here: projectRef, ...fleetFile }),
    result: typeOnly<{ trusted: boolean; before: { text: string; prompts: string } | null }>(),
    agentsMay: false,
    changes: false,
  },
  up: {
    params: z.strictObject({
      here: projectRef,
      ...fleetFile,
      /** The environment of all these workers; a client of an earlier version gives one to each of them. */
      environment: z.optional(z.strictObject(environment)),
      workers: z.array(worker).check(z.maxLength(FLEET_WORKERS_MAX)),
      session: z.nullable(name),
      resume: z.nullable(name),
      /** Workers that may begin anew where they cannot be resumed. */
      allowFresh: z.array(name).check(z.maxLength(FLEET_WORKERS_MAX)),
      fresh: z.boolean(),
    }),
    result: typeOnly<UpResult>(),
    item: typeOnly<UpItem>(),
    agentsMay: false,
    changes: true,
  },
  /** Stops workers, and takes them off the list of those that are started again. */
  down: {
    params: z.strictObject({
      here: projectRef,
      project: z.nullable(name),
      /** Null means all that were brought up. */
      targets: z.nullable(z.array(target).check(z.maxLength(FLEET_WORKERS_MAX))),
      by: text(200),
      killAfterMs,
    }),
    result: typeOnly<{ stopped: number; failed: number; count: number }>(),
    item: typeOnly<DownItem>(),
    agentsMay: false,
    changes: true,
  },
  /** Stops a worker that was brought up, and starts it again in its pane. */
  restart: {
    params: z.strictObject({ target, by: text(200), fresh: z.boolean(), killAfterMs }),
    result: typeOnly<UpItem>(),
    agentsMay: false,
    changes: true,
  },
  findPane: {
    params: z.strictObject({ target }),
    result: typeOnly<PaneRecord>(),
    agentsMay: false,
    changes: false,
  },
  /** Opens a worker of turns, which has no process, in a pane: a person takes its conversation over until the program ends. */
  openPane: {
    params: z.strictObject({ target }),
    result: typeOnly<{ address: string; run: string | null }>(),
    agentsMay: false,
    changes: true,
  },
  /** Reads the screen of a run, given by its id or its generation; without one, of the newest run. */
  readScreen: {
    params: z.strictObject({ target, lines: whole(1, SCREEN_LINES_MAX), run: z.optional(runId) }),
    result: typeOnly<ScreenRecord>(),
    agentsMay: false,
    changes: false,
  },
  /** Saves the fleet's conversations under a name; without one, under the active name once more. */
  save: {
    params: z.strictObject({
      here: projectRef,
      project: z.nullable(name),
      name: z.nullable(name),
      /** Whether it follows the workers from now on, as it does for a client of before, which does not say. */
      follow: z.optional(z.boolean()),
    }),
    result: typeOnly<SavedRecord>(),
    agentsMay: false,
    changes: true,
  },
  /** Lists the saved sessions. */
  saved: {
    params: z.strictObject({ here: projectRef, project: z.nullable(name) }),
    result: typeOnly<{ count: number }>(),
    item: typeOnly<SavedRecord>(),
    agentsMay: true,
    changes: false,
  },
  forget: {
    params: z.strictObject({ here: projectRef, project: z.nullable(name), name }),
    result: typeOnly<{ name: string }>(),
    agentsMay: false,
    changes: true,
  },
} as const satisfies CallTable;
