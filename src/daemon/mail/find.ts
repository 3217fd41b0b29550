import { PerdureError } from "../../protocol/errors.ts";
import { messageById, messagesByIdStart, type Message } from "../../store/messages.ts";
import type { House } from "../services.ts";

/** By its id, or the beginning of one that fits no other. */
export function findMessage(house: Pick<House, "db">, idOrStart: string): Message {
  const exact = messageById(house.db, idOrStart);
  if (exact) return exact;
  const [only, another] = messagesByIdStart(house.db, idOrStart);
  if (only && !another) return only;
  if (only && another) {
    throw new PerdureError("usage", `${idOrStart} is the beginning of more than one message's id.`, {
      hint: `give more of it: ${only.id}, ${another.id}`,
    });
  }
  throw new PerdureError("not-found", `There is no message ${JSON.stringify(idOrStart)}.`, {
    hint: "it may be older than is kept; perdure inbox --all lists what is there",
  });
}
