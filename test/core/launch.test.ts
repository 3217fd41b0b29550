import { expect, test } from "vitest";
import { decideLaunch, type LaunchDecision, type LaunchInput } from "../../src/core/launch.ts";
import { hintText, toHint, verb } from "../../src/protocol/hint.ts";
import type { Transcript } from "../../src/protocol/records/conversation.ts";

const ID = "01a1e1a6";
const FILE = "/home/u/.v/01a1e1a6.jsonl";

type Binding = NonNullable<LaunchInput["binding"]>;

const bound: Binding = {
  vendor: "v",
  id: ID,
  bytes: null,
  minted: false,
  hadRun: false,
  hasCopy: false,
  sameBoot: true,
  prompted: false,
  unrecorded: null,
};
const seen: Binding = { ...bound, bytes: 100 };
const minted: Binding = { ...bound, minted: true };
const holder = { pid: 4711, evidence: "its writer lock" };

const good = (bytes: number): Transcript => ({ state: "good", file: FILE, bytes, version: null });
const silent: Transcript = { state: "good", file: FILE, bytes: 1, version: null, unsaid: true };
const empty: Transcript = { state: "empty", file: FILE };
const damaged: Transcript = { state: "damaged", file: FILE, why: "none of its lines can be read", bytes: 100 };
const absent: Transcript = { state: "absent" };
const readOnly = { path: FILE, isFolder: false, isOwn: true, code: "EACCES", why: "permission denied" } as const;

function decide(input: Partial<LaunchInput>): LaunchDecision {
  const nothing = {
    vendor: "v",
    noConversation: false,
    fresh: false,
    binding: null,
    transcript: null,
    holder: null,
    split: null,
    accept: false,
  };
  return decideLaunch({ address: "api/coder", name: "coder", inPane: false, ...nothing, ...input });
}

const STARTS: [what: string, input: Partial<LaunchInput>, decision: LaunchDecision][] = [
  ["the first start", {}, { step: "new", id: null }],
  ["the first start of a program without an adapter", { vendor: null }, { step: "plain" }],
  ["a start for something else than a conversation", { noConversation: true }, { step: "plain" }],
  [
    "the same, bound and open elsewhere",
    { noConversation: true, binding: seen, transcript: absent, holder },
    { step: "plain" },
  ],
  ["the same, with another vendor's program", { noConversation: true, vendor: "w", binding: seen }, { step: "plain" }],
  ["the same, fresh", { noConversation: true, fresh: true, binding: seen }, { step: "plain" }],
  ["fresh, bound to nothing", { fresh: true }, { step: "new", id: null }],
  ["fresh, bound", { fresh: true, binding: seen, transcript: good(100) }, { step: "new", id: null }],
  ["fresh, with what is lost", { fresh: true, binding: seen, transcript: damaged }, { step: "new", id: null }],
  ["fresh, with what is open elsewhere", { fresh: true, binding: seen, holder }, { step: "new", id: null }],
  ["fresh, with another vendor", { fresh: true, vendor: "w", binding: seen }, { step: "new", id: null }],
  ["fresh, with any program", { fresh: true, vendor: null, binding: seen }, { step: "plain" }],
  ["bound, and never a word said", { binding: bound, transcript: absent }, { step: "new", id: ID }],
  ["bound, never looked at", { binding: bound }, { step: "new", id: ID }],
  [
    "bound, and written since",
    { binding: bound, transcript: good(5) },
    { step: "resume", id: ID, firstTurnPending: false },
  ],
  [
    "bound, as long as it was",
    { binding: seen, transcript: good(100) },
    { step: "resume", id: ID, firstTurnPending: false },
  ],
  ["bound, and longer", { binding: seen, transcript: good(101) }, { step: "resume", id: ID, firstTurnPending: false }],
  ["made by the vendor", { binding: minted, transcript: good(1) }, { step: "resume", id: ID, firstTurnPending: false }],
  [
    "the same, before the first word",
    { binding: minted, transcript: silent },
    { step: "resume", id: ID, firstTurnPending: true },
  ],
  [
    "the same, seen at work",
    { binding: { ...minted, prompted: true }, transcript: silent },
    { step: "resume", id: ID, firstTurnPending: false },
  ],
];

test.each(STARTS)("%s", (_what, input, decision) => {
  expect(decide(input)).toEqual(decision);
});

const REFUSALS: [what: string, input: Partial<LaunchInput>, message: RegExp, hint: RegExp][] = [
  ["another vendor's program", { vendor: "w", binding: seen, transcript: good(100) }, /which w cannot/, /--fresh -- C/],
  ["a program without an adapter", { vendor: null, binding: seen }, /which this program cannot/, /--fresh -- COMMAND/],
  ["open elsewhere", { binding: seen, transcript: good(100), holder }, /pid 4711 \(its writer lock\)/, /run coder$/],
  ["open elsewhere, not yet written", { binding: bound, transcript: absent, holder }, /pid 4711/, /run coder$/],
  ["gone", { binding: seen, transcript: absent }, /is gone/, /run coder --fresh/],
  ["gone, of a fleet", { inPane: true, binding: seen, transcript: absent }, /is gone/, /up coder --fresh$/],
  ["open elsewhere, of a fleet", { inPane: true, binding: seen, transcript: good(100), holder }, /4711/, /up coder$/],
  [
    "another program's, of a fleet",
    { inPane: true, vendor: "w", binding: seen },
    /which w cannot/,
    /up coder --fresh$/,
  ],
  ["gone, made by the vendor, never seen", { binding: minted, transcript: absent }, /is gone/, /run coder --fresh/],
  ["gone, and nobody looked", { binding: seen }, /is gone/, /run coder --fresh/],
  ["emptied", { binding: seen, transcript: empty }, /is empty \(\/home/, /start over/],
  [
    "damaged",
    { binding: seen, transcript: damaged },
    /is damaged: none of its lines can be read \(\/home/,
    /put the file back/,
  ],
  ["cut short", { binding: seen, transcript: good(99) }, /cut short: it had 100 bytes and has 99/, /put the file back/],
  [
    "unwritable",
    { binding: seen, transcript: good(100), unwritable: readOnly },
    /keeps its conversation in \/home.*, which cannot be written \(permission denied\)/,
    /chmod u\+w \/home\/u\S+; then: perdure run coder$/,
  ],
  [
    "unwritable, of a fleet, and lost",
    { inPane: true, binding: seen, transcript: absent, unwritable: { ...readOnly, code: "EROFS" } },
    /cannot be written/,
    /findmnt -T \/home\/u\S+; then: perdure up coder$/,
  ],
  [
    "unwritable, and another user's",
    { binding: seen, transcript: damaged, unwritable: { ...readOnly, isOwn: false } },
    /cannot be written/,
    /ls -ld/,
  ],
  ["unwritable, and open elsewhere", { binding: seen, holder, unwritable: readOnly }, /pid 4711/, /run coder$/],
  ["cut short, made by the vendor", { binding: { ...minted, bytes: 9 }, transcript: good(8) }, /cut short/, /put the/],
];

test.each(REFUSALS)("refused: %s", (_what, input, message, hint) => {
  const decision = decide(input);
  expect(decision).toMatchObject({
    step: "refuse",
    code: "refused",
    message: expect.stringMatching(message) as string,
  });
  expect(decision.step === "refuse" && hintText(toHint(decision.hint))).toMatch(hint);
  expect(decision).toMatchObject({
    message: expect.stringMatching(/api\/coder.*01a1e1a6|01a1e1a6.*api\/coder/) as string,
  });
});

test("of all there is, only what is whole, nobody else's and the program's own is resumed", () => {
  for (const noConversation of [false, true])
    for (const fresh of [false, true])
      for (const vendor of ["v", "w", null])
        for (const binding of [null, bound, seen, minted])
          for (const transcript of [null, absent, empty, damaged, good(99), good(100)])
            for (const holding of [null, holder]) {
              const decision = decide({ noConversation, fresh, vendor, binding, transcript, holder: holding });
              const back = !noConversation && !fresh && binding !== null;
              const own = back && vendor === binding.vendor && holding === null;
              const whole = transcript?.state === "good" && transcript.bytes >= (binding?.bytes ?? 0);
              const never = binding === bound && (transcript ?? absent).state === "absent";
              const unsaid = binding === bound && transcript?.state === "empty";
              expect(decision.step === "plain").toBe(noConversation || (!back && vendor === null));
              expect(decision.step === "resume").toBe(own && whole);
              expect(decision.step === "refuse").toBe(back && !(own && (whole || never || unsaid)));
              expect("id" in decision ? decision.id : null).toBe(own && (whole || never) ? ID : null);
            }
});

test("what a power cut has taken from a transcript is no damage, what anything else has is", () => {
  const shorter = { vendor: "v", transcript: good(99) };
  expect(decide({ ...shorter, binding: { ...seen, sameBoot: false } })).toMatchObject({ step: "resume" });
  expect(decide({ ...shorter, binding: seen })).toMatchObject({ step: "refuse", permanent: true });
});

test("an empty transcript is a loss once something was said", () => {
  expect(decide({ binding: bound, transcript: empty })).toEqual({ step: "new", id: null });
  expect(decide({ binding: { ...bound, prompted: true }, transcript: empty })).toMatchObject({ step: "refuse" });
  expect(decide({ binding: { ...bound, prompted: true }, transcript: absent })).toEqual({ step: "new", id: ID });
});

test("a conversation that one of our workers has open is taken over there", () => {
  const open = decide({ binding: bound, transcript: good(100), holder: { ...holder, worker: "other" } });
  expect(open).toMatchObject({ step: "refuse", hint: verb("takeover", "other"), permanent: false });
});

test("A3: a conversation that was spoken in and not recorded is refused, and does not begin anew under its id", () => {
  const unrecorded: Binding = { ...bound, prompted: true, unrecorded: "ended well and recorded nothing" };
  for (const transcript of [absent, empty, silent]) {
    const refusal = decide({ binding: unrecorded, transcript });
    expect(refusal).toMatchObject({ step: "refuse", code: "refused", permanent: true });
    expect(refusal).toHaveProperty("message", expect.stringContaining("its last run ended well and recorded nothing"));
  }
  expect(decide({ binding: unrecorded, transcript: good(100) })).toMatchObject({ step: "resume" });
  expect(decide({ binding: unrecorded, transcript: absent, fresh: true })).toEqual({ step: "new", id: null });
  // One that was on disk, and is gone, is a loss.
  const lost = decide({ binding: { ...unrecorded, bytes: 100 }, transcript: absent });
  expect(lost).toHaveProperty("message", expect.stringContaining("is gone"));
});

test("A3: no conversation is begun where none can be written, whatever the one before was", () => {
  const folder = {
    path: "/home/u/a b",
    isFolder: true,
    isOwn: true,
    code: "EACCES",
    why: "permission denied",
  } as const;
  for (const input of [{}, { fresh: true, binding: seen, transcript: good(100) }]) {
    const refusal = decide({ ...input, unwritable: folder });
    expect(refusal).toMatchObject({ step: "refuse", code: "refused", permanent: false });
    expect(refusal).toHaveProperty(
      "message",
      expect.stringMatching(/^What api\/coder says .* below \/home\/u\/a b, which/),
    );
    expect(refusal).toHaveProperty("hint", expect.stringContaining("chmod u+wx '/home/u/a b'; then start it again"));
  }
  expect(decide({ vendor: null, unwritable: folder })).toEqual({ step: "plain" });
  expect(decide({ noConversation: true, unwritable: folder })).toEqual({ step: "plain" });
});
