import type { CallName, CallParams } from "../../../src/protocol/calls/index.ts";
import { whole } from "../../support/check.ts";

type RealCalls = { [N in CallName]: CallParams<N> };

/** One of every call, as a client would make it, about a project and workers that there are not. */
export function realCalls(random: () => number): RealCalls {
  const word = (): string => `w${whole(random, 2 ** 30).toString(36)}`;
  const here = { identity: `/nowhere/${word()}`, root: `/nowhere/${word()}`, base: "nowhere" };
  const project = `no-${word()}`;
  const target = { project, name: word(), here };
  const token = word().padEnd(43, "x");
  const proof = { run: `vm.${project}.${word()}.1`, generation: whole(random, 100), token };
  const launch = { command: ["true"], cwd: "/", environment: { A: "b" }, vendor: null };
  const who = { as: null, nested: random() < 0.5 };
  const letter = { ...who, here, project, body: word(), ttlMs: null, attach: [], declared: [] };
  return {
    claim: { target, kind: "client", token, pid: 1, ...launch, fresh: false, ephemeral: false },
    bindConversation: { ...proof, session: word(), ...launch },
    adopt: { target, vendor: "claude", session: word(), cwd: "/", environment: {} },
    restoreConversation: { target },
    fork: { target, to: word() },
    findConversations: { vendor: null, cwd: "/nowhere", environment: {} },
    save: { here, project, name: word() },
    saved: { here, project },
    forget: { here, project, name: word() },
    drill: { here, project, all: false, targets: [target] },
    send: { ...letter, to: [word()], all: false, id: word(), supersedes: null, expectsReply: false },
    ask: { ...letter, to: word(), id: word(), waitMs: 0 },
    reply: { ...who, here, project, id: word(), body: word(), messageId: word(), attach: [] },
    takeMail: { ...who, here, project, max: 1, waitMs: 0 },
    ack: { ...who, ids: [word()], how: "read" },
    peekMail: { ...who, here, project, target: null, all: true, limit: 10 },
    listMail: { here, project, states: ["queued", "dead"], before: null, limit: 10 },
    pending: { ...who, here, project },
    showMail: { ...who, id: word() },
    cancel: { ...who, id: word() },
    redeliver: { id: word() },
    pause: { target, on: true },
    trust: { here, text: word(), prompts: word() },
    checkTrust: { here, text: word(), prompts: word() },
    up: { here, text: word(), prompts: word(), workers: [], session: null, resume: null, allowFresh: [], fresh: false },
    down: { here, project, targets: [target], by: word(), killAfterMs: 0 },
    restart: { target, by: word(), fresh: false, killAfterMs: 0 },
    findPane: { target },
    openPane: { target },
    readScreen: { target, lines: 1 },
    release: proof,
    keepalive: proof,
    ls: { here, project, all: false },
    show: { target },
    history: { target, limit: 10 },
    rename: { target, to: word() },
    retire: { target },
    takeover: { target, by: word(), killAfterMs: 0 },
    showProject: { here },
    listProjects: {},
    moveProject: { here, old: word() },
    events: { here, all: false, target, after: null, limit: 10, follow: false },
    findAnchorOwners: { here, project, files: [word()] },
    status: {},
    metrics: {},
    testNotice: { here, project },
    noticeFailures: {},
    wait: { here, project, targets: [target], until: "needs-me", waitMs: 0 },
    checkStore: {},
    backup: { file: `/nowhere/${word()}` },
    stopDaemon: {},
  };
}
