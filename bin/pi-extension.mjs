// Loaded by a Pi's user: pi -e "$(perdure extension pi)", or for good by pi install "$(perdure extension pi)". In a Pi that is no worker
// it does nothing but answer /perdure.
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";

export default function (pi) {
  if (isWorker()) return;
  pi.registerCommand("perdure", {
    description: "How this Pi becomes a worker of perdure",
    handler: async (_args, ctx) => {
      if (ctx.hasUI)
        ctx.ui.notify(`This Pi is not a worker of perdure: it has no name and no mailbox. ${nextStep(ctx)}`, "info");
    },
  });
}

/**
 * Tells whether perdure has started this very Pi: then it was given an extension that has the command, and more. A Pi inside a worker
 * has inherited the variable only.
 */
function isWorker() {
  const run = process.env.PERDURE_RUN;
  // The folder is called like the run, cut and with a hash behind it where the id has capitals or is long.
  const isOfRun = (folder) => folder === run || folder.startsWith(`${run.slice(0, 80)}~`);
  const isOurs = (word) => basename(word) === "extension.mjs" && isOfRun(basename(dirname(word)));
  return Boolean(run) && process.argv.some(isOurs);
}

/** A conversation in which nothing was said yet is in no file. */
function nextStep({ sessionManager }) {
  const file = sessionManager.getSessionFile();
  if (!file || !existsSync(file)) return "To start one: perdure run NAME -- pi";
  return `To make it one, quit it first; then: perdure adopt NAME --vendor pi --conversation ${sessionManager.getSessionId()} && perdure run NAME`;
}
