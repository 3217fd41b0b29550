import type { ModelRequest } from "./model/index.ts";
import { finish, type Finished } from "../support/home.ts";
import { headlessCommand } from "./harness/commands.ts";
import { Worker, type Refusal } from "./worker.ts";

/** A worker without a terminal: one run a turn, the words given anew each time. */
export class HeadlessWorker extends Worker {
  #running: Promise<Finished> | null = null;

  async say(text: string): Promise<ModelRequest> {
    return this.#toItsEnd(text, this.#command(text));
  }

  async again(text: string): Promise<ModelRequest> {
    return this.#toItsEnd(text, null);
  }

  async begin(text: string): Promise<void> {
    const since = this.setup.model.requests.length;
    this.#running = finish(this.setup.spawn(this.runWords(this.#command(text)), this.how));
    const early = this.#running.then(({ code, stdout, stderr }) => {
      throw new Error(`${this.name} ended with ${code} before it asked ${text}: ${stdout}${stderr}`);
    });
    early.catch(() => undefined); // when it ends later, that is as it should be
    await Promise.race([this.asked(text, since), early]);
  }

  async open(): Promise<void> {
    await this.hold("the first");
  }

  async refused(): Promise<Refusal> {
    const { code, stdout, stderr } = await this.setup.perdure(this.runWords(null), this.how);
    return { code, text: `${stdout}${stderr}`.replaceAll(/\s+/g, " ") };
  }

  renew(): Promise<void> {
    throw new Error("there is nobody to type it");
  }

  loseTerminal(): Promise<void> {
    throw new Error("there is none");
  }

  protected async left(): Promise<void> {
    await this.#running;
    this.#running = null;
  }

  async #toItsEnd(text: string, command: readonly string[] | null): Promise<ModelRequest> {
    const since = this.setup.model.requests.length;
    const { code, stdout, stderr } = await this.setup.perdure(this.runWords(command), this.how);
    if (code !== 0) throw new Error(`${this.name} ended with ${code} at ${JSON.stringify(text)}: ${stdout}${stderr}`);
    const request = await this.asked(text, since);
    const answer = `turns=${request.turns.length} first=`;
    if (!stdout.includes(answer)) throw new Error(`no ${answer} in the answer to ${text}: ${stdout}${stderr}`);
    return request;
  }

  #command(text: string): string[] {
    return headlessCommand(this.setup.vendor, this.how.args ?? [], text);
  }
}
