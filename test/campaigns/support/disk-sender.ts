import { connectToDaemon, type Client } from "../../../src/client/connect.ts";
import { asPerdureError } from "../../../src/protocol/errors.ts";
import type { Home } from "../../support/home.ts";
import { check, pick, whole, within } from "../../support/check.ts";
import { sendParams } from "../../support/send-params.ts";

export interface Sent {
  body: string;
  /** The attachment's copy, as its reader is told. */
  copy: string | null;
  sha256: string | null;
}

const WITH_FILE = 0.15;
const ABANDON = 0.3;
const REPEAT = 0.1;
const BODIES_CHARS = [20, 200, 2_000, 20_000];

/** Sends one after the other, whatever the disk does: what is refused is sent again, or given up for good. */
export class DiskSender {
  readonly acked = new Map<string, Sent>();
  readonly abandoned = new Set<string>();
  refused = 0;
  readonly #home: Home;
  readonly #name: string;
  readonly #file: string;
  readonly #random: () => number;
  #finished = false;

  constructor(home: Home, name: string, file: string, random: () => number) {
    this.#home = home;
    this.#name = name;
    this.#file = file;
    this.#random = random;
  }

  finish(): void {
    this.#finished = true;
  }

  async send(): Promise<void> {
    const client = await connectToDaemon({ env: this.#home.env, autostart: false });
    for (let number = 0; !this.#finished; number++) {
      const id = `${this.#name}-${number}`;
      const body = `${id} ${"x".repeat(whole(this.#random, pick(this.#random, BODIES_CHARS)))}`;
      await this.#sendOne(client, id, body, this.#random() < WITH_FILE);
      if (this.acked.size > 0 && this.#random() < REPEAT) await this.#repeat(client);
    }
    client.close();
  }

  async #sendOne(client: Client, id: string, body: string, withFile: boolean): Promise<void> {
    while (!(await this.#try(client, id, body, withFile))) {
      if (this.#random() >= ABANDON) continue;
      this.abandoned.add(id);
      return;
    }
    const { message } = await client.call("showMail", { as: null, nested: false, id });
    const [copy] = message.attachments;
    check((copy !== undefined) === withFile, `${id} has ${message.attachments.length} files`);
    this.acked.set(id, { body, copy: copy?.file ?? null, sha256: copy?.sha256 ?? null });
  }

  /** Sends a stored message again: whether that is answered or refused, the message stays as it is. */
  async #repeat(client: Client): Promise<void> {
    const recent = [...this.acked].slice(-100);
    const withFiles = recent.filter(([, { copy }]) => copy !== null);
    const [id, { body, copy }] = pick(this.#random, withFiles.length > 0 ? withFiles : recent);
    await this.#try(client, id, body, copy !== null);
  }

  async #try(client: Client, id: string, body: string, withFile: boolean): Promise<boolean> {
    const attach = withFile ? [this.#file] : [];
    const params = sendParams(this.#home, "coder", body, { id, attach });
    try {
      await within(`an answer to ${id}`, client.call("send", params));
      return true;
    } catch (thrown) {
      const { code, exitCode, message } = asPerdureError(thrown);
      check(code === "disk-full" && exitCode === 7, `${id} was refused with ${code} (${exitCode}): ${message}`);
      this.refused++;
      return false;
    }
  }
}
