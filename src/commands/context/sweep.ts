import { ANCHOR_SWEEP_DAYS, DAY_MS } from "../../limits/index.ts";
import { archiveName, relativeTo } from "../../project/context-file.ts";
import { asPerdureError, exitCodeOf } from "../../protocol/errors.ts";
import { processTable } from "../../runtime/process/index.ts";
import type { Invocation } from "../shared/command.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { printable } from "../shared/output.ts";
import { moveToArchive } from "./archive.ts";
import { locateAnchor, type AnchorLocation } from "./anchor-paths.ts";
import { findAnchors, type Anchor, type Anchors, type Unusable } from "./find-anchors.ts";
import { noteUnusable } from "./recover.ts";

interface Sweepable extends Anchor {
  /** The run, or the foreign id, that the anchor is called after. */
  owner: string;
}

/** Archives old anchors of ended runs, or of foreign ids; never one of a live run. One that cannot be moved keeps no other back. */
export async function contextSweep({ values, out }: Invocation): Promise<number> {
  const days = wholeNumber("--older-than", values["older-than"], { least: 0, most: 36_500 }) ?? ANCHOR_SWEEP_DAYS;
  const [dryRun, foreign] = [values["dry-run"] === true, values.foreign === true];
  const location = locateAnchor(values);
  const anchors = await findAnchors(location);
  const unusable = [...anchors.unusable];
  const runs = anchors.orphaned.map((anchor) => ({ ...anchor, owner: anchor.run }));
  const { sweepable: all, inUse } = foreign ? foreignOf(anchors) : { sweepable: runs, inUse: 0 };
  const old = all.filter(({ modifiedAt }) => Date.now() - Date.parse(modifiedAt) >= days * DAY_MS);
  const swept = old.flatMap((anchor) => {
    const to = dryRun ? null : archive(anchor, location, unusable);
    if (to === undefined) return [];
    return [{ path: anchor.path, ...(foreign ? { id: anchor.owner } : { run: anchor.owner }), to }];
  });
  const kept = all.length - swept.length;
  out.result({ dryRun, swept, kept, unusable }, () =>
    swept.map(({ path, to }) => printable(relativeTo(process.cwd(), to ?? path))).join("\n"),
  );
  noteUnusable(unusable, out);
  const used = inUse > 0 ? `, ${inUse} in use` : "";
  out.note(
    `${swept.length} ${dryRun ? "would be swept (--dry-run)" : "swept"}, ${kept} younger than ${days} days kept${used}`,
  );
  return unusable.length > anchors.unusable.length ? exitCodeOf("refused") : 0;
}

/**
 * Lists the anchors of foreign ids that no live process has. The one without an id stays: it belongs to whoever works in the project
 * without perdure, and nothing tells whether they still do.
 */
function foreignOf({ foreign }: Anchors): { sweepable: Sweepable[]; inUse: number } {
  const processes = processTable();
  const named = foreign.flatMap(({ id, ...anchor }) => (id === null ? [] : [{ ...anchor, owner: id }]));
  const sweepable = named.filter(({ owner }) => processes.withVariable("AI_AGENT_ID", owner).length === 0);
  return { sweepable, inUse: named.length - sweepable.length };
}

/** Moves an anchor to the archive of its tree; undefined, with the reason in `unusable`, where that cannot be. */
function archive(
  { path, tree, ext, owner, modifiedAt }: Sweepable,
  { settings }: AnchorLocation,
  unusable: Unusable[],
): string | undefined {
  try {
    return moveToArchive(path, tree, { ...settings, ext }, archiveName(new Date(modifiedAt), owner, "swept"));
  } catch (error) {
    unusable.push({ path, why: `${path} was not archived: ${asPerdureError(error).message}` });
    return undefined;
  }
}
