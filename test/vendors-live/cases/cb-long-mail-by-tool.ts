import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { partsOf } from "../../../src/daemon/mcp/tools/parts.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { until } from "../../terminal/tmux.ts";
import { timesReached, timesTold, untilMail } from "../mail.ts";

/** Longer than what any of the programs shows its model of what a tool returns. */
const LINES = 600;
const LINE = "x".repeat(80);
const REPLY = "long-reply";

export const longMailByTool: Case = {
  letter: "cb",
  title:
    "a long message that an agent reads by its tools is told whole, in parts, and counts as read with the last one",
  modes: ["headless"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    await worker.say("one");
    const since = setup.model.requests.length;
    const body = Array.from({ length: LINES }, (_, n) => `line ${n} of the reply ${LINE}`).join("\n");
    const question = "what was it?";
    const calls = partsOf(body).map((_, at) =>
      at === 0
        ? setup.callTool("ask", { to: "operator", text: question })
        : setup.callTool("inbox", { id: REPLY, part: at + 1 }),
    );
    const said = worker.say(`ask and read ${calls.join(" ")}`);
    const asked = await until("the question", async () => {
      const { messages } = await setup.home.json<{ messages: MessageRecord[] }>(["inbox", "--peek"]);
      return messages.find((each) => each.body === question) ?? null;
    });
    const { code, stderr } = await setup.perdure(["reply", asked.id, body, "--id", REPLY]);
    assert.equal(code, 0, stderr);
    await said;
    const last = await setup.model.until(
      (request) => request.index >= since && timesTold(request, `line ${LINES - 1} of the reply x`) > 0,
    );
    const told = Array.from({ length: LINES }, (_, n) => timesTold(last, `line ${n} of the reply x`));
    assert.deepEqual(
      told,
      Array.from({ length: LINES }, () => 1),
      "each line is told once",
    );
    const shown = await untilMail(setup, REPLY, ["read"]);
    const reached = ["offered", "read"].map((state) => timesReached(shown, state));
    assert.deepEqual(reached, [1, 1], JSON.stringify(shown.steps));
  },
};
