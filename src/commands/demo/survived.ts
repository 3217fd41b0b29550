import type { MailState } from "../../protocol/records/mail.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { Paint } from "../shared/output.ts";
import { shortId, table, type Cell } from "../shared/table/table.ts";

/** One worker before and after everything was killed. */
export interface Survivor {
  before: WorkerSummary;
  after: WorkerSummary;
  told: string;
  /** The worker's answer afterwards. */
  heard: string;
  /** The state of the message that the worker got while it was gone; null for a worker that got none. */
  mail: MailState | null;
}

/** Lists what is not as it was before; empty when everything survived. */
export function differences({ before, after, told, heard, mail }: Survivor): string[] {
  return [
    ...(after.address === before.address ? [] : ["another address"]),
    ...(after.session?.id === before.session?.id ? [] : ["another conversation"]),
    ...(after.session?.proved === true ? [] : ["not proved"]),
    ...(after.generation > before.generation && after.run?.id !== before.run?.id ? [] : ["not a new run"]),
    ...(heard === told ? [] : ["forgot what it was told"]),
    ...(mail === null || mail === "read" ? [] : ["was not told its mail"]),
  ];
}

export function survivedTable(survivors: readonly Survivor[], paint: Paint): string {
  const rows = survivors.map((survivor): (string | Cell)[] => {
    const { before, after, told, heard, mail } = survivor;
    const same = after.session?.id === before.session?.id && after.session?.proved === true;
    return [
      { text: after.name, paint: paint.bold },
      after.address,
      checkMark(same, `${shortId(after.session?.id ?? "-")} ${same ? "same, proved" : "not the same"}`, paint),
      `${before.generation} → ${after.generation}`,
      checkMark(heard === told, heard === told ? "all of it" : "nothing", paint),
      mail === null ? { text: "-", paint: paint.dim } : checkMark(mail === "read", mail, paint),
    ];
  });
  return table(["NAME", "ADDRESS", "CONVERSATION", "RUN", "REMEMBERS", "MAIL"], rows, paint.dim);
}

function checkMark(ok: boolean, text: string, paint: Paint): Cell {
  return { text: `${ok ? "✓" : "✗"} ${text}`, paint: ok ? paint.green : paint.red };
}
