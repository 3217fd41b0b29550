import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent } from "./agent.ts";
import { PersonaRefusal, type Persona } from "./persona.ts";
import { ignoreSignals } from "./signals.ts";
import { printError } from "./print.ts";

interface Order {
  words: string;
  does: string;
  run(agent: Agent, argument: string, persona: Persona): Promise<void> | void;
}

const clear: Order = {
  words: "",
  does: "a new session",
  run: (agent) => agent.change({ kind: "new", id: null }, "clear"),
};

/** Orders typed at the agent's prompt: on demand, everything an agent does that matters to perdure. */
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
      agent.output.notice((await agent.ask("allow? [y/n]")) ? "allowed" : "denied");
    },
  },
  sleep: {
    words: "MS",
    does: "is busy for so long",
    async run(agent, argument) {
      agent.setStatus("busy");
      const ms = number(argument, 1_000);
      await new Promise((resolve) => setTimeout(resolve, ms));
      agent.setStatus("idle");
      agent.output.notice(`slept ${ms} ms`);
    },
  },
  print: {
    words: "PROMPT",
    does: "has a nested headless agent answer",
    async run(agent, prompt, persona) {
      agent.setStatus("busy");
      const answer = await runNested(persona, prompt);
      agent.setStatus("idle");
      agent.output.notice(answer);
    },
  },
  cd: {
    words: "DIR",
    does: "moves to another folder",
    run(agent, folder) {
      try {
        process.chdir(folder);
      } catch (cause) {
        throw new PersonaRefusal(`cannot move to ${folder}: ${cause instanceof Error ? cause.message : String(cause)}`);
      }
      agent.setStatus("idle");
      agent.output.notice(`now in ${process.cwd()}`);
    },
  },
  hang: {
    words: "",
    does: "is busy for ever and hears nothing; SIGTERM ends it",
    async run(agent) {
      agent.setStatus("busy");
      await forever();
    },
  },
  stubborn: {
    words: "",
    does: "ignores SIGTERM and SIGHUP from now on",
    run(agent) {
      ignoreSignals("SIGTERM", "SIGHUP");
      agent.output.notice("SIGTERM and SIGHUP are ignored from now on");
    },
  },
  garble: {
    words: "",
    does: "overwrites its transcript with garbage",
    run(agent) {
      const { file } = agent.snapshot;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, Buffer.from("\0\u00ff{garbage\n", "latin1"));
      agent.output.notice(`garbled ${file}`);
    },
  },
  login: {
    words: "",
    does: "fails to log in and leaves with 1",
    run(agent) {
      printError("Not logged in. Please log in and start again.");
      agent.exitCode = 1;
    },
  },
  limit: {
    words: "",
    does: "has used up its limit and leaves with 1",
    run(agent) {
      printError("Usage limit reached. It resets tomorrow.");
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
      agent.output.notice(rows.join("\n"));
    },
  },
};

function number(text: string, otherwise: number): number {
  if (text === "") return otherwise;
  if (/^\d+$/.test(text)) return Number(text);
  throw new PersonaRefusal(`${JSON.stringify(text)} is not a number.`);
}

/**
 * Runs another agent of the same persona, headless, with this one's environment. A shell stays between the two, as in
 * every agent's shell tool: that is how a nested agent differs from a worker process of the agent itself.
 */
async function runNested(persona: Persona, prompt: string): Promise<string> {
  const { spawn } = process.getBuiltinModule("node:child_process"); // 5 ms of every start otherwise
  const command = [process.execPath, process.argv[1] ?? "", "--persona", persona.name, ...persona.headless(prompt)];
  // The script is the outer one's: the inner one would run it too, and so on.
  const { PERDURE_SCRIPT: _, ...env } = process.env;
  const child = spawn("/bin/sh", ["-c", '"$@"; exit $?', "sh", ...command], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new PersonaRefusal(`the nested agent ended with ${code}`);
  return answer.trimEnd();
}

/** Waits until a signal comes: a promise alone would not keep Node from leaving. */
function forever(): Promise<never> {
  setInterval(() => undefined, 60_000);
  return new Promise(() => undefined);
}
