import { PerdureError } from "../../protocol/errors.ts";
import { headerOf, keepPiSession, piSessionFiles } from "../../state/kept-pi-session.ts";
import { statIfThere } from "../../state/files.ts";
import { adoptFound } from "../shared/conversations/adoption.ts";
import type { Invocation } from "../shared/command.ts";
import { findProjectHere, startCommandHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";
import { requireUnlocked } from "./pi-session.ts";

/** Gives the conversation in the Pi session file of a key to a worker, which from then on is resumed from that file. */
export async function adoptPiSession(name: string, { values, out }: Invocation): Promise<void> {
  if (values.conversation !== undefined || values.kept === true) {
    throw new PerdureError("usage", "adopt: --pi-session cannot be combined with --conversation or --kept.", {
      hint: `perdure adopt ${name} --pi-session KEY`,
    });
  }
  const files = piSessionFiles(process.env, String(values["pi-session"]));
  await keepPiSession(files);
  const header = statIfThere(files.file) === undefined ? null : headerOf(files.file);
  if (header === null) {
    throw new PerdureError("not-found", `The key ${JSON.stringify(files.key)} has no conversation yet: ${files.file}`, {
      hint: 'pi --session "$(perdure pi-session -- "$KEY")" begins one',
    });
  }
  await requireUnlocked(files);
  const found = findProjectHere();
  const { id: session, cwd: began } = header;
  const cwd = typeof values.cwd === "string" ? values.cwd : began;
  const choice = { cwd, mustExist: values.cwd !== undefined, live: values.live === true };
  const adopted = await adoptFound(found, { name, vendor: "pi", session, transcript: files.file, ...choice }, out);
  out.result(adopted, () =>
    printable(`${adopted.address} is in the Pi session of ${files.key} (${adopted.session.id})`),
  );
  out.note(`→ ${startCommandHere(found, name)}`);
}
