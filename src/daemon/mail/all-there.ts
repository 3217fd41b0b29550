import { checkStore } from "../../store/check.ts";
import { DamagedRow } from "../../store/failure.ts";
import type { House } from "../services.ts";

/**
 * A box is read by an index, and counted apart from it: an index that lost an entry would lose mail without a word. Where the
 * two do not agree, the whole store is checked before anything is said.
 */
export async function assertAllThere(house: House, projectId: number, to: number | null, found: number): Promise<void> {
  if (found === house.db.mailboxCounters.count(projectId, to).messages) return;
  const { ok, problems } = await checkStore(house.paths.database, "integrity_check");
  if (!ok) throw new DamagedRow(problems.join("; "));
  house.log(`a box of project ${projectId} (worker ${to ?? "operator"}) is counted wrongly`);
}
