import { expect, test } from "vitest";
import { nextTurn, type WaitingMessage } from "../../src/core/next-turn.ts";

const BOUNDS = { plainActivates: true, messagesMax: 3, bytesMax: 100 };

function message(id: string, rest: Partial<WaitingMessage> = {}): WaitingMessage {
  return { id, expectsReply: false, isReply: false, mayActivate: true, bytes: 10, ...rest };
}

const ask = (id: string, rest: Partial<WaitingMessage> = {}): WaitingMessage =>
  message(id, { expectsReply: true, ...rest });

test.each<[what: string, waiting: WaitingMessage[], next: ReturnType<typeof nextTurn>]>([
  ["nothing waits", [], null],
  ["one ask", [ask("a")], { ask: "a", messages: ["a"] }],
  ["two asks: a turn each, in order", [ask("a"), ask("b")], { ask: "a", messages: ["a"] }],
  [
    "plain mail before an ask is told in front of it",
    [message("p"), message("q"), ask("a")],
    { ask: "a", messages: ["p", "q", "a"] },
  ],
  ["plain mail behind an ask waits for the next turn", [ask("a"), message("p")], { ask: "a", messages: ["a"] }],
  ["plain mail alone", [message("p"), message("q")], { ask: null, messages: ["p", "q"] }],
  ["a reply begins nothing", [message("r", { isReply: true, mayActivate: false })], null],
  [
    "a reply is told in front of what begins a turn",
    [message("r", { isReply: true, mayActivate: false }), ask("a")],
    { ask: "a", messages: ["r", "a"] },
  ],
  ["a stranger's mail begins nothing", [message("s", { mayActivate: false }), ask("t", { mayActivate: false })], null],
  [
    "a stranger's mail is left where it is",
    [message("s", { mayActivate: false }), ask("t", { mayActivate: false }), ask("a")],
    { ask: "a", messages: ["a"] },
  ],
  [
    "more plain mail than one turn is told goes first",
    ["p", "q", "r", "s"].map((id) => message(id)).concat(ask("a")),
    { ask: null, messages: ["p", "q", "r"] },
  ],
  [
    "longer plain mail than one turn is told goes first",
    [message("p", { bytes: 90 }), message("q", { bytes: 90 }), ask("a")],
    { ask: null, messages: ["p"] },
  ],
  ["an ask is told however long it is", [ask("a", { bytes: 1_000 })], { ask: "a", messages: ["a"] }],
])("%s", (_what, waiting, next) => {
  expect(nextTurn(waiting, BOUNDS)).toEqual(next);
});

test("where only asks begin a turn, plain mail waits for one", () => {
  const bounds = { ...BOUNDS, plainActivates: false };
  expect(nextTurn([message("p")], bounds)).toBeNull();
  expect(nextTurn([message("p"), ask("a")], bounds)).toEqual({ ask: "a", messages: ["p", "a"] });
  const many = ["p", "q", "r", "s"].map((id) => message(id));
  expect(nextTurn([...many, ask("a")], bounds)).toEqual({ ask: null, messages: ["p", "q", "r"] });
});
