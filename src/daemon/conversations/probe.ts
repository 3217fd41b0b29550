import type { SessionLocation, Transcript, Variables } from "../../protocol/records/conversation.ts";
import { asker } from "../../launch/ask-program.ts";
import type { SessionRow } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import type { Ask } from "../../vendors/adapter.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { House } from "../services.ts";
import { storedCommand } from "../launch/spec.ts";

// What is on disk of a conversation, as the vendor's adapter sees it. Nothing here changes anything.

export function placeOf(session: SessionRow): SessionLocation {
  return {
    vendor: session.vendor,
    id: session.vendor_id,
    configDir: session.config_dir,
    launchCwd: session.launch_cwd,
  };
}

/** `lastSeen`: where its transcript was, if that is known by now. */
export async function probeSession(
  house: Pick<House, "db">,
  session: SessionRow,
  lastSeen: string | null = session.transcript,
): Promise<Transcript> {
  const adapter = adapterOf(session.vendor);
  if (adapter === null) return { state: "absent" };
  return adapter.probe(placeOf(session), lastSeen, askerOf(house, session));
}

/** The vendor's program as the session's worker runs it, with the environment recorded for it. */
export function askerOf(house: Pick<House, "db">, session: SessionRow): Ask {
  const worker = workerById(house.db, session.worker_id);
  const adapter = adapterOf(session.vendor);
  const stored =
    worker?.vendor === session.vendor ? storedCommand(worker)?.slice(0, (worker.program_at ?? 0) + 1) : null;
  return asker({
    command: stored ?? adapter?.command ?? [],
    cwd: session.launch_cwd,
    environment: JSON.parse(worker?.environment ?? "{}") as Record<string, string>,
    variables: JSON.parse(session.config_variables) as Variables,
  });
}
