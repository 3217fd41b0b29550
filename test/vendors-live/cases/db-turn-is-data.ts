import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "../case.ts";
import { TurnWorker } from "../turn-worker.ts";

export const turnIsData: Case = {
  letter: "db",
  title: "in a turn, a body that begins like a command, a file or an option is data, and the conversation stays",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  core: true,
  unhurried: true,
  async run(setup) {
    const ran = join(setup.home.dir, "a-body-ran");
    writeFileSync(join(setup.home.project, "note.txt"), "made-up-secret");
    const worker = await TurnWorker.up(setup, "w");
    const bodies = ["/clear", `!touch '${ran}'`, "@/etc/passwd and @note.txt", "-p"];
    for (const [at, body] of bodies.entries()) {
      const since = setup.model.requests.length;
      const { code, stdout, stderr } = await worker.ask(`${body}\nbody ${at}`, `ask-${at}`);
      assert.equal(code, 0, `${body}: ${stderr}`);
      assert.match(stdout, new RegExp(`^turns=${at + 1} `), body);
      const request = await worker.told(`body ${at}`, since);
      assert.equal(request.turns.length, at + 1, `${body}: everything before is in the conversation`);
      const [told = ""] = /^\[m-[0-9a-f]{16}$([^]*)^m-[0-9a-f]{16}\]$/m.exec(request.turns.at(-1) ?? "") ?? [];
      assert.ok(bare(told).includes(`\n${bare(body)}\nbody ${at}\n`), `${body} stands between its marks: ${told}`);
      assert.doesNotMatch(JSON.stringify(request.body), /root:x:0:0|made-up-secret/, `${body}: no file was shown`);
    }
    assert.equal(existsSync(ran), false, "no command ran");
    await worker.onlySession();
  },
};

/** The text without what keeps a program from showing its model a file for an `@`. */
function bare(text: string): string {
  return text.replaceAll("\\@", "@");
}
