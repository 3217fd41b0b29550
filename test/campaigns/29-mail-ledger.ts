import { readFileSync } from "node:fs";
import type { MailStep, MessageRecord } from "../../src/protocol/records/mail.ts";
import { check } from "../support/check.ts";
import type { Home } from "../support/home.ts";
import { sendParams } from "../support/send-params.ts";
import type { LastingClient } from "./support/lasting-client.ts";

interface Shown {
  message: MessageRecord;
  steps: MailStep[];
}

/** All that was sent, to be compared with what stands in the conversations. */
export class MailLedger {
  readonly #home: Home;
  readonly #client: LastingClient;
  /** Finds the transcripts of a worker's conversations: one that was killed before its first turn begins another. */
  readonly #transcriptsOf: (name: string) => Promise<string[]>;
  readonly #sent = new Map<string, { to: string; body: string }>();
  /** The messages, by worker, that were not seen in its conversation yet. */
  readonly #open = new Map<string, Set<string>>();

  constructor(home: Home, client: LastingClient, transcriptsOf: (name: string) => Promise<string[]>) {
    this.#home = home;
    this.#client = client;
    this.#transcriptsOf = transcriptsOf;
  }

  /** The same id is the same message: a send that was not answered is repeated. */
  async send(to: string, body: string): Promise<void> {
    const id = `c29-${this.#sent.size}`;
    await this.#client.ask((client) => client.call("send", sendParams(this.#home, to, body, { id })));
    this.#sent.set(id, { to, body });
    this.#open.set(to, (this.#open.get(to) ?? new Set()).add(id));
  }

  /** Checks that what counts as told to the worker stands in its conversation by now. */
  async checkCounted(name: string): Promise<void> {
    const open = this.#open.get(name) ?? new Set();
    const counted: Shown[] = [];
    for (const id of open) {
      const shown = await this.#show(id);
      if (shown.message.state === "injected" || shown.message.state === "read") counted.push(shown);
    }
    const told = await this.#toldTo(name);
    for (const shown of counted) {
      check(timesIn(told, shown.message.id) > 0, () => `${describe(shown)}, and not in the conversation of ${name}`);
      open.delete(shown.message.id);
    }
  }

  /**
   * Checks every message: it is in its reader's conversation, or dead with a reason; more than once only where a run ended between the
   * handing over and its sign, and with a word about that.
   */
  async checkAll(): Promise<Record<string, number>> {
    const figures = { byWake: 0, byPrompt: 0, byStop: 0, again: 0, dead: 0 };
    const texts = new Map<string, string>();
    for (const name of this.#open.keys()) texts.set(name, await this.#toldTo(name));
    for (const [id, { to, body }] of this.#sent) {
      const shown = await this.#show(id);
      const { message, steps } = shown;
      if (message.state === "dead") {
        check((steps.at(-1)?.reason ?? "") !== "", () => `${describe(shown)}, without a reason`);
        figures.dead++;
        continue;
      }
      const told = texts.get(to) ?? "";
      const times = timesIn(told, id);
      check(times > 0, () => `${describe(shown)}, and not in the conversation of ${to}`);
      check(told.includes(body), () => `${describe(shown)}, came without its body`);
      const ended = steps.filter(({ state, reason }) => state === "queued" && reason === "its run ended first").length;
      check(times <= 1 + ended, () => `${describe(shown)}, told ${times} times, and ${ended} runs ended on the way`);
      check(timesMarked(told, id) >= times - 1, () => `${describe(shown)}, came again without saying so`);
      if (times > 1) figures.again++;
      const by = steps.findLast(({ state }) => state === "offered")?.reason ?? "";
      figures[by.includes("prompt hook") ? "byPrompt" : by.includes("stop hook") ? "byStop" : "byWake"]++;
    }
    return figures;
  }

  #show(id: string): Promise<Shown> {
    return this.#client.ask((client) => client.call("showMail", { as: null, nested: false, id }));
  }

  /** The text that the model of a worker was told; its answers quote that. */
  async #toldTo(name: string): Promise<string> {
    const files = await this.#transcriptsOf(name);
    const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n"));
    return lines.filter((line) => /"type":"(?:user|attachment)"/.test(line)).join("\n");
  }
}

function timesIn(told: string, id: string): number {
  return told.split(`Message ${id} from `).length - 1;
}

function timesMarked(told: string, id: string): number {
  return [...told.matchAll(new RegExp(`Message ${id} from operator, [^ ,]+, again: `, "g"))].length;
}

function describe({ message, steps }: Shown): string {
  return `${message.id} is ${message.state} after ${JSON.stringify(steps)}`;
}
