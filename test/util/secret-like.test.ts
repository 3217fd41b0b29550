import { expect, test } from "vitest";
import { withoutSecrets } from "../../src/util/secret-like.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789".repeat(3);

test.each([
  ["a key of an issuer", `use sk-ant-api03-${LETTERS} now`],
  ["a token of a forge", `push with ghp_${LETTERS.slice(0, 36)}`],
  ["a cloud's key id", `AKIA${LETTERS.slice(0, 16).toUpperCase()} is ours`],
  ["an assignment", "set DB_PASSWORD=hunter2 first"],
  ["a quoted field", 'it has {"api_key": "hunter2 and more"}'],
  ["a sentence", "the password is hunter2, remember it"],
  ["an option", "run it with --auth-token hunter2"],
  ["a password in an address", "clone https://me:hunter2@example.org/x.git"],
  ["a header", "curl -H 'Authorization: Bearer hunter2hunter2'"],
  ["a signed token", `eyJhbGciOiJIUzI1NiJ9.${LETTERS}.${LETTERS}`],
  ["a private key", "-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNza hunter2"],
  ["a long word with digits", `it printed ${LETTERS.slice(0, 40)}`],
])("%s is hidden", (_what, text) => {
  const shown = withoutSecrets(text);
  expect(shown).toContain("…");
  expect(shown).not.toMatch(/hunter2|abcdefghijkl/i);
});

test.each([
  "fix the login test; the author is Bob",
  "turns=1 first=hello last=hello",
  "rename src/commands/shared/verb/help-page.ts to help.ts",
  "the key idea: one lease for each name",
  "counter-revolutionaries and internationalization",
  "see https://example.org/a/b?c=d#e",
])("plain words stay: %s", (text) => {
  expect(withoutSecrets(text)).toBe(text);
});
