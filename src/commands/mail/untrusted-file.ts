import type { FoundProject } from "../../project/find.ts";
import { readFleet } from "../../project/fleet/read.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { callDaemon } from "../shared/call.ts";
import { projectRefHere } from "../shared/here.ts";
import { trustedContent } from "../shared/launch/trusted-content.ts";

/** Returns the fleet file if it is not trusted as it is now; null if it is, and where that cannot be told. */
export async function untrustedFile(found: FoundProject): Promise<string | null> {
  try {
    const fleet = readFleet(found);
    if (fleet === null) return null;
    const { trusted } = await callDaemon("checkTrust", { here: projectRefHere(found), ...trustedContent(fleet) });
    return trusted ? null : fleet.file;
  } catch (error) {
    // An agent may not ask for that, and a file with a mistake in it is told of when somebody brings it up.
    if (isPerdureError(error)) return null;
    throw error;
  }
}
