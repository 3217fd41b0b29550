import { expect, test } from "vitest";
import { launchHooks } from "../../src/vendors/codex/hooks.ts";

/** As `hooks/list` of codex 0.166.0 said it of these hooks: `trusted`, and each with this hash of its own making. */
const RECORDED = {
  session_start: "a05541c9b9736f13b5010c715c3d09571447534a60a907fa5692070c784a17ec",
  user_prompt_submit: "751fe5548cbb5ff1193fd4d409151ea3db81bf99ec0d16026d1fe57b7f6dc961",
  permission_request: "83c75ec6d5da583b39aef04b15489d82f5773d4fbafb48d7ecff6fd4f65826d8",
  post_tool_use: "8321e1ab4ccedde8265bad9ba722f30131844fed4cc6ff02c0e5f8fdcf1b7e85",
  stop: "5fd2a81c2983abf342c0bec12b48091a4b757670f13e2db6bd0be4bc767fefc8",
};

test("our hooks, and only those, are trusted, by the hashes that codex itself makes of them", () => {
  const { args } = launchHooks('/tmp/it\'s a "dir" ü\\x');
  const settings = args.filter((word) => word !== "-c");
  const state = settings.find((setting) => setting.startsWith("hooks.state=")) ?? "";
  const trusted = [...state.matchAll(/"([^"]+)"=\{trusted_hash="sha256:([0-9a-f]+)"\}/g)].map(([, key, hash]) => [
    key,
    hash,
  ]);
  expect(trusted).toEqual(
    Object.entries(RECORDED).map(([event, hash]) => [`/<session-flags>/config.toml:${event}:0:0`, hash]),
  );
  expect(settings).toHaveLength(trusted.length + 1);
});

test("nothing of codex's guards is switched off", () => {
  const { args } = launchHooks("/run");
  expect(args.filter((word) => !/^(?:-c|hooks\.[A-Za-z]+=.*)$/.test(word))).toEqual([]);
});
