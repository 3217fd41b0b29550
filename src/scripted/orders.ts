import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent } from "./agent.ts";
import { Refusal, type Layout } from "./persona.ts";
import { runNested } from "./nested.ts";
import { ignoreSignals } from "./signals.ts";
import { sayAside } from "./write.ts";

/** What the agent runs as, so that it can run another of its kind. */
export interface Program {
  name: string;
  layout: Layout;
}

interface Order {
  words: string;
  does: string;
  run(agent: Agent, argument: string, program: Program): Promise<void> | void;
}

const clear: Order = {
  words: "",
  does: "a new session",
  run: (agent) => agent.change({ kind: "new", id: null }, "clear"),
};

/** Everything an agent does that matters to whoever holds its name, on demand. */
export const ORDERS: Readonly<Record<string, Order>> = {
  clear,
  new: clear,
  resume: {
    words: "ID",
    does: "another session, in this process",
    run: (agent, id) => agent.change({ kind: "resume", id }, "resume"),
  },
  permission: {
    words: "",
    does: "asks, and waits for the next line",
    async run(agent) {
      agent.voice.notice((await agent.ask("allow? [y/n]")) ? "allowed" : "denied");
    },
  },
  sleep: {
    words: "MS",
    does: "is busy for so long",
    async run(agent, argument) {
      agent.show("busy");
      const ms = number(argument, 1_000);
      await new Promise((resolve) => setTimeout(resolve, ms));
      agent.show("idle");
      agent.voice.notice(`slept ${ms} ms`);
    },
  },
  print: {
    words: "PROMPT",
    does: "has a nested headless agent answer",
    async run(agent, prompt, program) {
      agent.show("busy");
      const answer = await runNested(program, prompt);
      agent.show("idle");
      agent.voice.notice(answer);
    },
  },
  cd: {
    words: "DIR",
    does: "moves to another folder",
    run(agent, folder) {
      try {
        process.chdir(folder);
      } catch (cause) {
        throw new Refusal(`cannot move to ${folder}: ${cause instanceof Error ? cause.message : String(cause)}`);
      }
      agent.show("idle");
      agent.voice.notice(`now in ${process.cwd()}`);
    },
  },
  hang: {
    words: "",
    does: "is busy for ever and hears nothing; SIGTERM ends it",
    async run(agent) {
      agent.show("busy");
      await forever();
    },
  },
  stubborn: {
    words: "",
    does: "ignores SIGTERM and SIGHUP from now on",
    run(agent) {
      ignoreSignals("SIGTERM", "SIGHUP");
      agent.voice.notice("SIGTERM and SIGHUP are ignored from now on");
    },
  },
  garble: {
    words: "",
    does: "overwrites its transcript with garbage",
    run(agent) {
      const { file } = agent.view;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, Buffer.from("\0\u00ff{garbage\n", "latin1"));
      agent.voice.notice(`garbled ${file}`);
    },
  },
  login: {
    words: "",
    does: "fails to log in and leaves with 1",
    run(agent) {
      sayAside("Not logged in. Please log in and start again.");
      agent.exitCode = 1;
    },
  },
  limit: {
    words: "",
    does: "has used up its limit and leaves with 1",
    run(agent) {
      sayAside("Usage limit reached. It resets tomorrow.");
      agent.exitCode = 1;
    },
  },
  crash: {
    words: "[CODE]",
    does: "exits at once, tidying nothing",
    run: (_agent, argument) => process.exit(number(argument, 1)),
  },
  kill: {
    words: "",
    does: "SIGKILLs itself",
    async run() {
      process.kill(process.pid, "SIGKILL");
      await forever();
    },
  },
  exit: {
    words: "[CODE]",
    does: "leaves in good order",
    run(agent, argument) {
      agent.exitCode = number(argument, 0);
    },
  },
  help: {
    words: "",
    does: "this list",
    run(agent) {
      const rows = Object.entries(ORDERS).map(
        ([name, { words, does }]) => `  ${`/${name} ${words}`.padEnd(16)} ${does}`,
      );
      agent.voice.notice(rows.join("\n"));
    },
  },
};

function number(text: string, otherwise: number): number {
  if (text === "") return otherwise;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Refusal(`${JSON.stringify(text)} is not a number.`);
}

/** Until a signal comes: a promise alone would not keep Node from leaving. */
function forever(): Promise<never> {
  setInterval(() => undefined, 60_000);
  return new Promise(() => undefined);
}
