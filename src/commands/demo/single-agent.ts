import type { ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import type { History } from "../../protocol/records/run.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { DEMO_WAIT_MS } from "../../limits/index.ts";
import { exitCodeOf } from "../../protocol/errors.ts";
import type { Output } from "../shared/output.ts";
import type { Stage } from "./stage.ts";

/** Plays the demo without tmux: one agent, in the foreground. */
export async function playSingleAgent(stage: Stage, out: Output): Promise<object> {
  stage.narrate("An agent gets a name. This one is built in and needs no model; yours would be claude or codex.");
  const first = await DemoAgent.start(stage, out, ["run", "coder", "--vendor", "scripted"]);
  await first.say("The staging database is called heron.");
  await stage.runAndShow(["ls"]);

  stage.narrate("While it runs, nothing else can be coder. The refusal says who holds the name, and what to do.");
  await stage.runAndShow(["run", "coder"], exitCodeOf("held"));

  stage.narrate("All its processes are killed with SIGKILL, as in a crash.");
  await first.kill();
  await stage.runAndShow(["ls"]);

  stage.narrate("The name outlived its process. By name alone it comes back, in its own conversation.");
  const second = await DemoAgent.start(stage, out, ["run", "coder"]);
  const answer = await second.say("What did I tell you first?");

  stage.narrate(
    "That is checked, too: the conversation that the process shows is compared with the one that was asked for.",
  );
  await stage.waitFor("coder was never proved", async () => idleWorker(await stage.workers(), true));
  await stage.runAndShow(["history", "coder"]);

  const { runs, sessions } = await stage.query<History>(["history", "coder"]);
  const [before, after] = [first.worker, second.worker];
  const hasSurvived =
    after.address === before.address &&
    after.generation === before.generation + 1 &&
    after.run?.id !== before.run?.id &&
    after.session?.id === before.session?.id &&
    sessions[0]?.proved === true &&
    answer.includes("heron");
  if (!hasSurvived) throw new Error(`not everything survived: ${JSON.stringify({ before, after, answer, sessions })}`);
  stage.narrate(`Same address (${after.address}), a new run, the same conversation, proved.`);
  return { address: after.address, generation: after.generation, session: after.session, runs };
}

function idleWorker(workers: WorkerSummary[], proved: boolean): WorkerSummary | null {
  return workers.find(({ state, session }) => state === "idle" && (!proved || session?.proved === true)) ?? null;
}

/** A running worker, with pipes to its input and output. */
class DemoAgent {
  readonly worker: WorkerSummary;
  readonly #stage: Stage;
  readonly #out: Output;
  readonly #child: ChildProcess;

  private constructor(stage: Stage, out: Output, child: ChildProcess, worker: WorkerSummary) {
    this.#stage = stage;
    this.#out = out;
    this.#child = child;
    this.worker = worker;
  }

  /** Starts a worker beside the demo and waits until it is ready for input. */
  static async start(stage: Stage, out: Output, args: string[]): Promise<DemoAgent> {
    stage.echoCommand(`perdure ${args.join(" ")} &`);
    const child = stage.start(args, ["pipe", "pipe", "ignore"]);
    child.stdout?.setEncoding("utf8");
    const worker = await stage.waitFor("the worker did not start", async () =>
      idleWorker(await stage.workers(), false),
    );
    return new DemoAgent(stage, out, child, worker);
  }

  /** Types a line, and shows the agent's answer. */
  async say(line: string): Promise<string> {
    this.#out.note(`${this.#out.paint.bold("you>")} ${line}`);
    this.#child.stdin?.write(`${line}\n`);
    const answer = await this.#answer();
    this.#out.note(`${this.#out.paint.bold("coder>")} ${answer}`);
    return answer;
  }

  async kill(): Promise<void> {
    this.#stage.echoCommand(`kill -9 ${this.#stage.killRuns([this.worker]).join(" ")}`);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }

  /** Reads the agent's next answer, without its banner and prompt sign. */
  async #answer(): Promise<string> {
    let text = "";
    const signal = AbortSignal.timeout(DEMO_WAIT_MS);
    for await (const chunk of on(this.#child.stdout ?? process.stdin, "data", { signal })) {
      text += String(chunk);
      const answer = /^(?:> )*(turns=.*)$/m.exec(text)?.[1];
      if (answer !== undefined && text.includes("\n", text.indexOf(answer))) return answer;
    }
    return text;
  }
}
