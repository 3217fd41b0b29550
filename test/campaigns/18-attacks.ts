import { randomBytes } from "node:crypto";
import type { CallName, CallParams } from "../../src/protocol/calls/index.ts";
import { sha256 } from "../../src/util/sha256.ts";
import type { Home } from "../support/home.ts";
import { pick, whole } from "../support/check.ts";
import { clientClaim, targetIn } from "../support/in-home.ts";
import { sendParams, projectRefOf } from "../support/send-params.ts";

export interface Proof {
  run: string;
  generation: number;
  token: string;
}

/** Who there is to be robbed, and by whom. */
export interface Parties {
  home: Home;
  /** The attacker's own, valid lease. */
  mallory: Proof;
  /** The victim's, of which all but the token is public. */
  victim: Proof;
  /** A run of the victim's name that is over, with the token it had. */
  dead: Proof;
  /** Messages of the victim: waiting in its box, on offer to it, and sent by it to somebody else. */
  mail: { queued: string; offered: string; sent: string };
}

export interface Attack {
  what: string;
  /** The token in the hello; null is nobody's token. */
  token: string | null;
  call: CallName;
  params: unknown;
}

/** One attempt to be somebody else, or to do what is somebody else's. */
export function attack(parties: Parties, random: () => number): Attack {
  return pick(random, KINDS)(parties, random);
}

type Kind = (parties: Parties, random: () => number) => Attack;

const KINDS: readonly Kind[] = [
  wrongProof,
  wrongProof,
  deadToken,
  replayed,
  othersMail,
  othersName,
  otherProject,
  nested,
  operatorsCall,
  faked,
];

/** `as` the victim, with every token but its own. */
function wrongProof(parties: Parties, random: () => number): Attack {
  const { victim, mallory, dead } = parties;
  const token = pick(random, [
    mallory.token,
    dead.token,
    randomBytes(32).toString("base64url"),
    sha256(victim.token),
    changed(random, victim.token),
    victim.token.slice(0, -1),
    `${victim.token}A`,
    victim.token.toLowerCase(),
  ]);
  const as = { ...victim, token };
  return { what: "as, with a wrong token", token: anyHello(parties, random), ...someCall(parties, random, { as }) };
}

/** A run that is over acts with the token it had, in its hello or as proof. */
function deadToken(parties: Parties, random: () => number): Attack {
  const { dead, mallory } = parties;
  if (random() < 0.5) return { what: "a dead run's token", token: dead.token, ...someCall(parties, random, {}) };
  return { what: "as a dead run", token: mallory.token, ...someCall(parties, random, { as: dead }) };
}

/** Run, generation and token that do not belong together. */
function replayed(parties: Parties, random: () => number): Attack {
  const { mallory, victim, dead } = parties;
  const as = pick(random, [
    { ...mallory, generation: mallory.generation + 1 + whole(random, 5) },
    { ...mallory, generation: Math.max(0, mallory.generation - 1 - whole(random, 5)) },
    { ...dead, generation: victim.generation },
    { ...dead, run: victim.run },
    { ...dead, run: victim.run, generation: victim.generation },
    { ...mallory, run: victim.run },
    { ...mallory, run: victim.run, generation: victim.generation },
    { ...mallory, run: `${mallory.run}0` },
  ]);
  return { what: "a replayed generation", token: anyHello(parties, random), ...someCall(parties, random, { as }) };
}

/** An agent, as itself, takes, answers, cancels, supersedes or reads another's mail. */
function othersMail(parties: Parties, random: () => number): Attack {
  const { home, mallory, mail } = parties;
  const who = { as: random() < 0.5 ? mallory : null, nested: false };
  const id = pick(random, Object.values(mail));
  const reply = { ...who, here: projectRefOf(home), project: null, body: "yes", messageId: null, attach: [] };
  const calls: Omit<Attack, "what" | "token">[] = [
    { call: "ack", params: { ...who, ids: Object.values(mail), how: pick(random, ["read", "injected"] as const) } },
    { call: "reply", params: { ...reply, id: pick(random, [mail.queued, mail.offered]) } },
    { call: "reply", params: { ...reply, id: mail.queued.slice(0, -2) } },
    { call: "cancel", params: { ...who, id: pick(random, [mail.queued, mail.offered, mail.sent]) } },
    { call: "showMail", params: { ...who, id } },
    { call: "send", params: sendParams(home, "bystander", "instead", { ...who, supersedes: mail.sent }) },
    { call: "send", params: sendParams(home, "victim", "for the coder", { ...who, id: mail.queued }) },
    { call: "send", params: sendParams(home, "bystander", "from the victim", { ...who, id: mail.sent }) },
  ];
  return { what: "another's mail", token: mallory.token, ...pick(random, calls) };
}

/** An agent claims a name that is not its own: of a worker that is stopped, and one that the fleet file declares. */
export const STOPPED_VICTIM = "stopped-victim";
export const DECLARED_VICTIM = "declared-victim";

function othersName({ home, mallory }: Parties, random: () => number): Attack {
  const name = pick(random, [STOPPED_VICTIM, STOPPED_VICTIM.toUpperCase(), DECLARED_VICTIM]);
  const client = clientClaim(home, name, process.pid);
  const run = { ...client, kind: "run" as const, command: ["sh", "-c", "planted"], cwd: "/" };
  return { what: "another's name", token: mallory.token, call: "claim", params: pick(random, [client, run]) };
}

/** The slug of a project that the attacker is no worker of; its folder stands beside the attacker's. */
export const OTHER_PROJECT = "elsewhere-web";

/** An agent claims a name in another project, new or not, to mail from there: by its slug, by its folder, or in a new one. */
function otherProject({ home, mallory }: Parties, random: () => number): Attack {
  const name = pick(random, ["spy", STOPPED_VICTIM]);
  const client = clientClaim(home, name, process.pid);
  const folder = pick(random, [`${home.dir}/${OTHER_PROJECT}`, `${home.dir}/never-used`]);
  const target = pick(random, [
    { ...client.target, project: OTHER_PROJECT },
    { ...client.target, here: { identity: folder, root: folder, base: OTHER_PROJECT } },
  ]);
  const run = { ...client, kind: "run" as const, command: ["sh", "-c", "planted"], cwd: "/", fresh: random() < 0.5 };
  const params = { ...pick(random, [client, run]), target };
  return { what: "a name of another project", token: mallory.token, call: "claim", params };
}

/** An agent within the worker's agent has inherited the token, and not the box. */
function nested(parties: Parties, random: () => number): Attack {
  const { home, victim, mail } = parties;
  const who = { as: random() < 0.5 ? victim : null, nested: true, here: projectRefOf(home), project: null };
  const { as } = who;
  const calls: Omit<Attack, "what" | "token">[] = [
    { call: "takeMail", params: { ...who, max: 10, waitMs: 0 } },
    { call: "peekMail", params: { ...who, target: null, all: random() < 0.5, limit: 10 } },
    { call: "pending", params: who },
    { call: "ack", params: { as, nested: true, ids: [mail.offered], how: "read" } },
    { call: "reply", params: { ...who, id: mail.offered, body: "yes", messageId: null, attach: [] } },
    { call: "cancel", params: { as, nested: true, id: mail.sent } },
    { call: "send", params: sendParams(home, "bystander", "instead", { as, nested: true, supersedes: mail.sent }) },
  ];
  return { what: "a nested agent", token: victim.token, ...pick(random, calls) };
}

/** An agent makes calls that only the operator may make. */
function operatorsCall(parties: Parties, random: () => number): Attack {
  const { home, mallory, mail } = parties;
  const target = targetIn(home, "victim");
  const place = { here: projectRefOf(home), project: null };
  const session = "0b6f3a52-0000-4000-8000-000000000000";
  const calls: Omit<Attack, "what" | "token">[] = [
    { call: "takeover", params: { target, by: "operator", killAfterMs: 0 } },
    { call: "rename", params: { target, to: "mine" } },
    { call: "retire", params: { target } },
    { call: "pause", params: { target, on: true } },
    { call: "redeliver", params: { id: mail.queued } },
    { call: "fork", params: { target, to: "mine" } },
    { call: "restoreConversation", params: { target } },
    { call: "adopt", params: { target, vendor: "claude", session, cwd: home.project, environment: {} } },
    { call: "findConversations", params: { vendor: null, cwd: home.project, environment: {} } },
    { call: "save", params: { ...place, name: "mine" } },
    { call: "forget", params: { ...place, name: "mine" } },
    { call: "moveProject", params: { here: place.here, old: "api" } },
    { call: "backup", params: { file: `${home.dir}/stolen.db` } },
    { call: "checkStore", params: {} },
    { call: "stopDaemon", params: {} },
  ];
  return { what: "an operator's call", token: mallory.token, ...pick(random, calls) };
}

/** Fields that nobody may choose, an unknown project, a name that is taken. */
function faked(parties: Parties, random: () => number): Attack {
  const { home, mallory, victim } = parties;
  const field = pick(random, ["from", "fromWorker", "from_name", "sender", "run", "actor", "seq", "__proto__"]);
  const fake = { ...sendParams(home, "bystander", "hello"), ...JSON.parse(`{"${field}":"api/victim"}`) };
  const release = { run: victim.run, generation: victim.generation, token: mallory.token };
  const calls: Omit<Attack, "what" | "token">[] = [
    { call: "send", params: fake },
    { call: "send", params: sendParams(home, "bystander", "hello", { project: "elsewhere" }) },
    { call: "claim", params: clientClaim(home, "victim", process.pid) },
    { call: "claim", params: { ...clientClaim(home, "victim", process.pid), token: mallory.token } },
    { call: pick(random, ["release", "keepalive"]), params: release },
  ];
  return { what: "a faked envelope", token: mallory.token, ...pick(random, calls) };
}

/** Mail's calls, all of which act for somebody. */
function someCall(
  { home, mail }: Parties,
  random: () => number,
  more: { as?: Proof },
): Pick<Attack, "call" | "params"> {
  const who = { as: more.as ?? null, nested: false };
  const place = { here: projectRefOf(home), project: null };
  const ask: CallParams<"ask"> = {
    ...who,
    ...place,
    to: "bystander",
    body: "?",
    id: "forged-ask",
    ttlMs: null,
    attach: [],
    declared: [],
    waitMs: 0,
  };
  return pick(random, [
    { call: "send", params: sendParams(home, "bystander", "from the victim", who) },
    { call: "send", params: sendParams(home, "bystander", "to all", { ...who, to: [], all: true }) },
    { call: "ask", params: ask },
    { call: "reply", params: { ...who, ...place, id: mail.offered, body: "yes", messageId: null, attach: [] } },
    { call: "takeMail", params: { ...who, ...place, max: 10, waitMs: 0 } },
    { call: "takeMail", params: { ...who, ...place, max: 10, waitMs: 0, inHand: [] } },
    { call: "ack", params: { ...who, ids: [mail.offered], how: "read" } },
    { call: "peekMail", params: { ...who, ...place, target: null, all: true, limit: 10 } },
    { call: "pending", params: { ...who, ...place } },
    { call: "showMail", params: { ...who, id: mail.offered } },
    { call: "cancel", params: { ...who, id: mail.sent } },
  ]);
}

/** A token for the hello: with `as`, it does not matter whose connection it is. */
function anyHello({ mallory }: Parties, random: () => number): string | null {
  return random() < 0.5 ? mallory.token : null;
}

function changed(random: () => number, token: string): string {
  const at = whole(random, token.length);
  return `${token.slice(0, at)}${token[at] === "x" ? "y" : "x"}${token.slice(at + 1)}`;
}
