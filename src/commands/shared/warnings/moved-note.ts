import type { ProjectRef } from "../../../protocol/calls/index.ts";
import type { MovedProject } from "../../../protocol/records/admin.ts";
import type { AttentionItem } from "../table/attention-list.ts";
import { listFromDaemon } from "../call.ts";
import { printable, type Output } from "../output.ts";

/** Says that a project which is gone may have been moved to the current folder, and how to bring its workers here. */
export function movedNote(project: MovedProject): string {
  const { name, why, command } = movedAttention(project);
  return printable(
    `Project ${name}: ${why}. ${project.absorbed ? "To bring them here" : "If it was moved here"}: ${command}`,
  );
}

/** Tells people who found nobody here that their project may only have been moved. */
export async function noteMoved(here: ProjectRef, out: Output): Promise<void> {
  const { result } = await listFromDaemon("ls", { here, project: null, all: false });
  for (const project of result.moved ?? []) out.note(movedNote(project));
}

export function movedAttention({ slug, root, workers, absorbed }: MovedProject): AttentionItem {
  const count = `${workers} ${workers === 1 ? "worker" : "workers"}`;
  return {
    name: slug,
    why: absorbed
      ? `its folder ${root} belongs to this project now (${count})`
      : `its folder ${root} is gone, and this is the same repository (${count})`,
    command: `perdure project move ${slug}`,
  };
}
