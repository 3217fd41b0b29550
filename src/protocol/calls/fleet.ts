import * as z from "zod/mini";
import { CONFIG_BYTES_MAX, FLEET_WORKERS_MAX, PROMPT_BYTES_MAX, SCREEN_LINES_MAX } from "../../limits/index.ts";
import { launch, name, place, runId, target, text, whole } from "./shapes.ts";

const fileText = z.string().check(z.maxLength(CONFIG_BYTES_MAX));
/** The hashes of all first prompts, by worker. */
const prompts = text(CONFIG_BYTES_MAX);
const killAfterMs = whole(0, 600_000);

const worker = z.strictObject({
  name,
  ...launch,
  group: z.nullable(name),
  restart: z.enum(["never", "on-failure", "always"]),
  prompt: z.nullable(z.string().check(z.maxLength(PROMPT_BYTES_MAX))),
  openFiles: z.nullable(whole(1, Number.MAX_SAFE_INTEGER)),
});

export const fleetCalls = {
  /** The operator agrees to run what this text says. */
  trust: z.strictObject({ here: place, text: fileText, prompts }),
  trusted: z.strictObject({ here: place, text: fileText, prompts }),
  up: z.strictObject({
    here: place,
    /** The fleet file the workers were read from: nothing of it runs before it is trusted. */
    text: fileText,
    prompts,
    workers: z.array(worker).check(z.maxLength(FLEET_WORKERS_MAX)),
    session: z.nullable(name),
    resume: z.nullable(name),
    /** Those that may begin anew where they cannot be resumed. */
    allowFresh: z.array(name).check(z.maxLength(FLEET_WORKERS_MAX)),
    fresh: z.boolean(),
  }),
  down: z.strictObject({
    here: place,
    project: z.nullable(name),
    /** Null: all that were brought up. */
    targets: z.nullable(z.array(target).check(z.maxLength(FLEET_WORKERS_MAX))),
    by: text(200),
    killAfterMs,
  }),
  /** Of a worker that was brought up: stopped, and started in its pane. */
  restart: z.strictObject({ target, by: text(200), fresh: z.boolean(), killAfterMs }),
  pane: z.strictObject({ target }),
  /** Without a run, its newest one; with, that one: by its id or its generation. */
  screen: z.strictObject({ target, lines: whole(1, SCREEN_LINES_MAX), run: z.optional(runId) }),
};
