import { relativeTo } from "../../project/context-file.ts";
import type { Invocation } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { age, size, table } from "../shared/table/table.ts";
import { locateAnchor } from "./anchor-paths.ts";
import { findAnchors, type Anchors, type Unusable } from "./find-anchors.ts";

export async function contextRecover({ values, out }: Invocation): Promise<void> {
  const wantsForeign = values.foreign === true;
  const anchors = await findAnchors(locateAnchor(values));
  const { orphaned, live, foreign, unusable } = anchors;
  out.result({ anchors: orphaned, live, foreign, unusable }, () => {
    const [head, rows] = wantsForeign ? foreignTable(anchors) : orphanTable(anchors);
    return rows.length > 0 ? table(head, rows, out.paint.dim) : "";
  });
  noteUnusable(unusable, out);
  if ((wantsForeign ? foreign : orphaned).length === 0) out.note("Nothing to recover.");
  if (foreign.length > 0 && !wantsForeign)
    out.note(
      `${foreign.length} more belong to no run of this project (a person's or another tool's): perdure context recover --foreign`,
    );
}

type AnchorTable = [head: string[], rows: string[][]];

function orphanTable({ orphaned }: Anchors): AnchorTable {
  const rows = orphaned.map(({ worker, generation, reason, modifiedAt, path }) => [
    worker,
    String(generation),
    reason ?? "",
    age(modifiedAt),
    relativeTo(process.cwd(), path),
  ]);
  return [["WORKER", "RUN", "ENDED", "AGE", "CONTEXT"], rows];
}

function foreignTable({ foreign }: Anchors): AnchorTable {
  const rows = foreign.map(({ id, modifiedAt, bytes, path }) => [
    id ?? "-",
    age(modifiedAt),
    size(bytes),
    relativeTo(process.cwd(), path),
  ]);
  return [["ID", "AGE", "SIZE", "CONTEXT"], rows];
}

/** Tells what was passed over, because a file that is not looked at is a context that nobody recovers. */
export function noteUnusable(unusable: readonly Unusable[], out: Invocation["out"]): void {
  for (const { why } of unusable) out.note(printable(`passed over: ${why}`));
}
