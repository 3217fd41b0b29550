import { expect, test } from "vitest";
import { MessageIds } from "../../../src/daemon/mail/message-ids.ts";

const HOUR_MS = 3_600_000;

test("ids of the same hours stand together in an index, and no two are the same", () => {
  const ids = new MessageIds();
  const [now, later] = [100 * 24 * HOUR_MS, 100 * 24 * HOUR_MS + 7 * HOUR_MS];
  const first = Array.from({ length: 2_000 }, () => ids.mint(now));
  expect(new Set(first.map((id) => id.slice(0, 2))).size).toBe(1);
  expect(new Set(first).size).toBe(first.length);
  expect(first.every((id) => /^[a-hjkmnp-z2-9]{12}$/.test(id))).toBe(true);
  expect(ids.mint(later).slice(0, 2)).not.toBe(first[0]?.slice(0, 2));
});
