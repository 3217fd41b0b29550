import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ForeignConversation } from "../../../../src/daemon/conversations/attention/foreign-conversation.ts";

test("the next daemon knows that an agent is in another worker's conversation, until it is back", async () => {
  const dir = mkdtempSync(join(tmpdir(), "perdure-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const of = (nowMs: number): ForeignConversation =>
    new ForeignConversation(
      join(dir, "elsewhere"),
      () => nowMs,
      () => Promise.resolve(),
    );
  await of(1).enter("theirs");
  const next = of(5);
  expect(next.session).toBe("theirs");
  // A turn from before the agent left its conversation.
  await next.onOwnTurn(4);
  expect(next.session).toBe("theirs");
  await next.onOwnTurn(6);
  expect(next.session).toBe(null);
  expect(of(7).session).toBe(null);
});
