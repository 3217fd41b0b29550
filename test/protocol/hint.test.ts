import { expect, test } from "vitest";
import { errorFromBody, PerdureError, type ErrorBody } from "../../src/protocol/errors.ts";
import { hinted, hintOf, hintText, joinHints, shownHint, startVerb, verb } from "../../src/protocol/hint.ts";

test("a hint is words and commands, in order; words that follow each other are one", () => {
  const answer = hintOf`answer ${"first"}: ${verb("reply", "k3m9", "TEXT")}; or wait ${3} s`;
  expect(answer).toEqual(["answer first: ", { verb: "reply", args: ["k3m9", "TEXT"] }, "; or wait 3 s"]);
  expect(hintText(answer)).toBe("answer first: perdure reply k3m9 TEXT; or wait 3 s");
  expect(hintOf`${answer}!`).toEqual([...answer.slice(0, 2), "; or wait 3 s!"]);
});

test("hints are joined with words in between", () => {
  const stops = joinHints(
    ["a", "b"].map((name) => verb("stop", name)),
    "; ",
  );
  expect(stops).toEqual([verb("stop", "a"), "; ", verb("stop", "b")]);
  expect(hintText(joinHints([], "; "))).toBeNull();
});

test("arguments are quoted for the shell by whoever writes the command, not by whoever makes it", () => {
  const folder = verb("adopt", "coder", "--cwd", "/my folder/$HOME");
  expect(folder.args.at(-1)).toBe("/my folder/$HOME");
  expect(hintText([folder])).toBe("perdure adopt coder --cwd '/my folder/$HOME'");
  expect(startVerb("coder", true, "--fresh")).toEqual({ verb: "up", args: ["coder", "--fresh"] });
});

test("an error has its hint in both forms, also after the socket", () => {
  const error = new PerdureError("held", "held", { hint: verb("takeover", "api/coder") });
  expect(error.hint).toBe("perdure takeover api/coder");
  expect(error.next).toEqual([{ verb: "takeover", args: ["api/coder"] }]);
  const received = errorFromBody(JSON.parse(JSON.stringify(error)) as ErrorBody);
  expect(received).toMatchObject({ hint: error.hint, next: error.next });
  expect(new PerdureError("internal", "no").toJSON()).toEqual({
    code: "internal",
    message: "no",
    hint: null,
    retryable: false,
  });
});

test("a daemon of before sends text alone, and the text is shown", () => {
  const body = { code: "held", message: "held", hint: "perdure takeover coder", retryable: true } as const;
  expect(errorFromBody(body)).toMatchObject({ hint: "perdure takeover coder", next: ["perdure takeover coder"] });
  expect(shownHint({ hint: "perdure drill" })).toBe("perdure drill");
  expect(shownHint({ hint: "as the daemon wrote it", next: [verb("drill")] })).toBe("perdure drill");
  expect(hinted(null)).toEqual({ hint: null });
  expect(hinted("install it")).toEqual({ hint: "install it", next: ["install it"] });
});
