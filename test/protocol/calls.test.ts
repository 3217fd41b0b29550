import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { calls } from "../../src/protocol/calls/index.ts";
import { wireNameOf } from "../../src/protocol/calls/wire-names.ts";

test("docs/protocol.md lists every call with its old name, who may make it, and whether it changes or streams anything", () => {
  const rows = readFileSync("docs/protocol.md", "utf8").matchAll(
    /^\| `(?<name>\w+)` \| (?:`(?<old>[\w.]+)`)? \| (?<does>[^|]+) \| (?<who>[^|]+) \| (?<changes>yes)? \| (?<streams>yes)? \|$/gm,
  );
  const told = [...rows].map(({ groups = {} }) => ({
    name: groups.name,
    wire: groups.old ?? groups.name,
    who: groups.who,
    changes: groups.changes === "yes",
    streams: groups.streams === "yes",
  }));
  const table = Object.entries(calls).map(([name, { agentsMay, changes, ...rest }]) => ({
    name,
    wire: wireNameOf(name as keyof typeof calls),
    who: whoMay(agentsMay),
    changes,
    streams: "item" in rest,
  }));
  expect(told).toEqual(table);
});

test("agents may make exactly these calls, and those that change something are fenced", () => {
  const entries = Object.entries(calls);
  expect(entries.filter(([, { agentsMay }]) => agentsMay !== false).map(([name]) => name)).toEqual(
    (
      "claim keepalive release bindConversation drill ls show wait history showProject listProjects saved " +
      "send ask reply takeMail ack peekMail pending showMail cancel events findAnchorOwners status"
    ).split(" "),
  );
  expect(entries.filter(([, { agentsMay, changes }]) => agentsMay !== false && changes).map(([name]) => name)).toEqual(
    "claim keepalive release bindConversation send ask reply takeMail ack cancel".split(" "),
  );
});

function whoMay(agentsMay: boolean | string): string {
  if (typeof agentsMay === "string") return `agents, by \`${agentsMay}\``;
  return agentsMay ? "agents" : "operator";
}
