import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { noteUnusedFolders } from "../shared/warnings/folder-notes.ts";

export const save: Command = {
  summary: "save which conversation every worker is in, under one name",
  usage: "[NAME] [--follow]",
  details: [
    "A saved session is a snapshot: `perdure up --resume NAME` brings every worker back to where it was. From then on it is",
    "kept current, as with --follow at once, or with `perdure up --session NAME`: it follows the workers to other",
    "conversations. A snapshot that is to stay is saved under another name beside it. Without NAME the saved session that is kept current is",
    "written again, as the workers are now.",
  ].join("\n"),
  examples: ["perdure save friday", "perdure save friday --follow", "perdure up --resume friday"],
  options: {
    follow: {
      about: "keep it current: it follows the workers to other conversations (/clear, --fresh) until another one does",
    },
  },
  completes: ["saved"],
  words: [0, 1],

  async run({ words: [name = null], values, out }) {
    const follow = values.follow === true;
    const saved = await callDaemon("save", { here: projectRefHere(), project: projectOfRun(), name, follow });
    const workers = saved.workers.length === 1 ? "1 worker" : `${saved.workers.length} workers`;
    out.result(saved, () => `${saved.name}: ${workers}, ${saved.active ? "kept current" : "a snapshot of now"}`);
    noteUnusedFolders(findProjectHere(), out);
    out.note(
      saved.active
        ? "  It follows the workers to other conversations until another saved session does."
        : [
            `  To go back to it: perdure up --resume ${saved.name}   (it is kept current from then on)`,
            `  To keep it current from now on: perdure save ${saved.name} --follow`,
          ].join("\n"),
    );
  },
};
