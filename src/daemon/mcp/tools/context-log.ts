import { CONTEXT_ENTRY_BYTES_MAX } from "../../../limits/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { appendEntry } from "../../../project/context-entry.ts";
import { anchorFile, anchorSettings } from "../../../project/context-file.ts";
import { readProjectSettings, readUserSettings } from "../../../project/config/read.ts";
import { findProject } from "../../../project/find.ts";
import { userConfigFile } from "../../../state/paths.ts";
import { conversationOfRun } from "../../../store/conversations.ts";
import { objectSchema, textArgument, textField, type Tool } from "../tool.ts";
import { ownWorker } from "./place.ts";

export const contextLogTool: Tool = {
  name: "context_log",
  title: "Log your context",
  description:
    "Adds an entry with the time to the context file of this run, which your successor is told of if this run ends unexpectedly: what is done, what comes next.",
  readOnly: false,
  input: objectSchema({ text: textField("The entry.") }),
  output: objectSchema({ path: textField() }),
  async run(args, call) {
    const entry = textArgument(args, "text");
    if (Buffer.byteLength(entry) > CONTEXT_ENTRY_BYTES_MAX) {
      throw new PerdureError("usage", `The entry has more than ${CONTEXT_ENTRY_BYTES_MAX} bytes, which is the limit.`, {
        hint: "log a summary, and where the rest lies",
      });
    }
    const { worker, project } = ownWorker(call);
    const cwd = conversationOfRun(call.services.db, call.actor.run.id)?.launchCwd ?? worker.cwd ?? project.root;
    const found = findProject(cwd);
    const settings = anchorSettings({}, readProjectSettings(found), readUserSettings(userConfigFile(process.env)));
    const path = anchorFile(found.here, settings, call.actor.run.id);
    appendEntry(found.here, path, entry);
    return { path };
  },
};
