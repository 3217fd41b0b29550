import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NAME_CHARS_MAX } from "../../src/limits/index.ts";
import { epochKey, formatRunId, parseRunId } from "../../src/protocol/run-id.ts";

const name = fc
  .stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/)
  .filter((text) => text.length <= NAME_CHARS_MAX);

test("a run id is host.project.worker.epoch", () => {
  const parts = { host: "velox", project: "api", worker: "coder-1", epoch: 1718400000 };
  expect(formatRunId(parts)).toBe("velox.api.coder-1.1718400000");
  expect(parseRunId("velox.api.coder-1.1718400000")).toEqual(parts);
});

test("whatever the host and the names are, an id splits into four and fits a file name", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), name, name, fc.nat(), (host, project, worker, epoch) => {
      const id = formatRunId({ host, project, worker, epoch });
      expect(id).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.\d+$/);
      expect(parseRunId(id)?.epoch).toBe(epoch);
      expect(id.length).toBeLessThanOrEqual(255);
    }),
  );
});

test("two names whose ids could be equal share their epochs", () => {
  expect(epochKey("velox", "api", "coder.1")).toBe(epochKey("velox", "api", "coder-1"));
  expect(epochKey("velox", "api", "Coder")).toBe(epochKey("velox.local", "API", "coder"));
  fc.assert(
    fc.property(name, name, name, name, (p1, w1, p2, w2) => {
      const id = (project: string, worker: string): string =>
        formatRunId({ host: "h", project, worker, epoch: 1 }).toLowerCase();
      expect(id(p1, w1) === id(p2, w2)).toBe(epochKey("h", p1, w1) === epochKey("h", p2, w2));
    }),
  );
});

test.each(["", "a.b.c", "a.b.c.d", "a.b.c.1.2", "a..c.1", "a.b.c.-1", "a b.c.d.1", "a.b.c.1\n"])(
  "%j is no run id",
  (text) => {
    expect(parseRunId(text)).toBeNull();
  },
);
