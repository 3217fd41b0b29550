import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../terminal/tmux.ts";
import { writeText } from "./harness/files.ts";

/** The tool of a server of the user's. */
export const OWN_TOOL = "mark";

/** A server of MCP that a user has, with one tool: it leaves a mark when it is opened, and one when its tool is called. */
export class OwnServer {
  readonly name: string;
  /** The words that start it. */
  readonly command: readonly string[];
  readonly #marks: { opened: string; called: string };

  constructor(home: string, name: string) {
    this.name = name;
    const script = join(home, "own-server.mjs");
    writeText(script, SCRIPT);
    this.#marks = { opened: join(home, `server-${name}-opened`), called: join(home, `server-${name}-called`) };
    this.command = [process.execPath, script, name, this.#marks.opened, this.#marks.called];
  }

  /** Returns the answer of its tool. */
  get answer(): string {
    return `the user's own ${this.name} was called`;
  }

  async opened(): Promise<void> {
    await this.#left("opened");
  }

  async called(): Promise<void> {
    await this.#left("called");
  }

  async #left(what: "opened" | "called"): Promise<void> {
    const mark = this.#marks[what];
    await until(`${this.name} ${what}`, () => (existsSync(mark) ? true : null));
    rmSync(mark);
  }
}

// The least that every program takes for a server: a line for a line.
const SCRIPT = `import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [name, opened, called] = process.argv.slice(2);
const tool = {
  name: "${OWN_TOOL}",
  description: "leaves a mark",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
};
const answers = {
  initialize: ({ protocolVersion }) => {
    writeFileSync(opened, "");
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: "1.0.0" } };
  },
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": () => {
    writeFileSync(called, "");
    return { content: [{ type: "text", text: "the user's own " + name + " was called" }] };
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...said }) + "\\n");
});
`;
