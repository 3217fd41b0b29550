import { existsSync } from "node:fs";
import { join } from "node:path";
import { PerdureError } from "../../protocol/errors.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { DISPLACED_FILE, statePaths } from "../../state/paths.ts";

/**
 * Throws in a run that has lost its name: its context is its successor's to recover, and must not change or be archived below it. The
 * daemon's note in the run's folder says so, so that no daemon is needed.
 */
export function requireNotDisplaced(agentId: string | undefined): void {
  const run = process.env.PERDURE_RUN;
  if (!run || agentId !== run) return;
  if (!existsSync(join(statePaths(process.env).runs, fileNameOf(run), DISPLACED_FILE))) return;
  const name = process.env.PERDURE_NAME ?? "its worker";
  throw new PerdureError("stale", `This run (${run}) was displaced: the context belongs to whoever has ${name} now.`, {
    hint: "perdure whoami",
  });
}
