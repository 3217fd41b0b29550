import { checkStore } from "../../store/check.ts";
import { DamagedRow } from "../../store/failure.ts";
import { countOnTheWay } from "../../store/messages.ts";
import type { House } from "../house.ts";

/**
 * A box is read by an index, and counted apart from it: an index that lost an entry would lose mail without a word. Where the
 * two do not agree, the whole store is checked before anything is said.
 */
export async function assertAllThere(house: House, projectId: number, to: number | null): Promise<void> {
  const agree = (): boolean => countOnTheWay(house.db, projectId, to) === house.db.boxes.count(projectId, to).messages;
  if (agree()) return;
  const { ok, problems } = await checkStore(house.paths.database, "integrity_check");
  if (!ok) throw new DamagedRow(problems.join("; "));
  if (!agree()) house.log(`a box of project ${projectId} (worker ${to ?? "operator"}) is counted wrongly`);
}
