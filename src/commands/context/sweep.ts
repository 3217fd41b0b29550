import { ANCHOR_SWEEP_DAYS, DAY_MS } from "../../limits/index.ts";
import { archiveName, relativeTo } from "../../project/context-file.ts";
import type { Invocation } from "../shared/command.ts";
import { wholeNumber } from "../shared/parse.ts";
import { printable } from "../shared/output.ts";
import { moveToArchive } from "./archive.ts";
import { locateAnchor } from "./anchor-paths.ts";
import { findAnchors } from "./recover.ts";

/** Archives old anchors of ended runs; never one of a live run, never a foreign one. */
export async function contextSweep({ values, out }: Invocation): Promise<void> {
  const days = wholeNumber("--older-than", values["older-than"], { least: 0, most: 36_500 }) ?? ANCHOR_SWEEP_DAYS;
  const dryRun = values["dry-run"] === true;
  const location = locateAnchor(values);
  const { orphaned } = await findAnchors(location);
  const old = orphaned.filter(({ modifiedAt }) => Date.now() - Date.parse(modifiedAt) >= days * DAY_MS);
  const swept = old.map(({ path, tree, run, modifiedAt }) => {
    const name = archiveName(new Date(modifiedAt), run, "swept");
    return { path, run, to: dryRun ? null : moveToArchive(path, tree, location.settings, name) };
  });
  out.result({ dryRun, swept, kept: orphaned.length - old.length }, () =>
    swept.map(({ path, to }) => printable(relativeTo(process.cwd(), to ?? path))).join("\n"),
  );
  const summary = `${swept.length} ${dryRun ? "would be swept (--dry-run)" : "swept"}, ${orphaned.length - old.length} younger than ${days} days kept`;
  out.note(summary);
}
