import { expect, test } from "vitest";
import { introduce } from "../../src/core/introduction.ts";

const words = (text: string): number => text.trim().split(/\s+/).length;

test("says who it is, who else is there and what for, and how to write to them", () => {
  const text = introduce("api/coder", "writes the code", [
    { name: "reviewer", vendor: "codex", about: "reads every diff" },
    { name: "build", vendor: null, about: null },
  ]);
  expect(text).toContain("You are api/coder,");
  expect(text).toContain("Your part: writes the code.");
  expect(text).toContain("Peers: reviewer (codex: reads every diff), build.");
  for (const how of ["perdure send NAME 'TEXT'", "perdure ask NAME", "perdure reply ID", "perdure inbox"])
    expect(text).toContain(how);
});

test("has at most 120 words, whatever the fleet's file says", () => {
  const about = "a ".repeat(100).trim();
  const peers = Array.from({ length: 50 }, (_, n) => ({ name: `worker-${n}`, vendor: "claude", about }));
  const text = introduce("api/coder", about, peers);
  expect(words(text)).toBeLessThanOrEqual(120);
  expect(text).toContain("and 44 more");
  expect(introduce("api/coder", about, peers.slice(0, 6), 50)).toBe(text);
});

test("a worker without peers is told so", () => {
  expect(introduce("api/coder", null, [])).toContain("You have no peers yet");
});
