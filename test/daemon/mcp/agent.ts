import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ClaimGrant } from "../../../src/protocol/records/launch.ts";
import { shellQuote } from "../../../src/util/shell-quote.ts";
import { eventually } from "../../support/check.ts";
import { BIN, type Home } from "../../support/home.ts";

export interface AgentOptions {
  /** Variables besides the run's own. */
  env?: Readonly<Record<string, string>>;
  /** Asks for the newest protocol first, as some agents do. */
  discovers?: boolean;
  /** The program that starts the bridge, in place of a plain start: `-c` and a command are its arguments. */
  below?: readonly string[];
}

type RunIdentity = Pick<ClaimGrant, "run" | "token" | "socket">;

/** An agent's program, as far as MCP goes: the official client, with the real bridge as its server. */
export class McpAgent {
  readonly client: Client;
  readonly grant: RunIdentity;
  readonly #transport: StdioClientTransport;

  private constructor(client: Client, transport: StdioClientTransport, grant: RunIdentity) {
    this.client = client;
    this.#transport = transport;
    this.grant = grant;
  }

  /** The pid of the bridge. */
  get bridgePid(): number {
    return this.#transport.pid ?? 0;
  }

  static async start(
    home: Home,
    grant: RunIdentity,
    { env = {}, discovers = false, below = [] }: AgentOptions = {},
  ): Promise<McpAgent> {
    const identity = { PERDURE_RUN: grant.run, PERDURE_TOKEN: grant.token, PERDURE_SOCKET: grant.socket };
    // `; true` keeps each shell in place instead of letting it become the next one.
    const command = below.reduceRight<string[]>(
      (inner, shell) => [shell, "-c", `${quoted(inner)}; true`],
      [BIN, "mcp"],
    );
    const [program = "", ...args] = command;
    const transport = new StdioClientTransport({
      command: program,
      args,
      env: { ...home.env, ...identity, ...env },
      stderr: "ignore",
    });
    const client = new Client(
      { name: "test", version: "1" },
      discovers ? { versionNegotiation: { mode: "auto" } } : {},
    );
    await client.connect(transport);
    return new McpAgent(client, transport, grant);
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    return this.client.callTool({ name, arguments: args });
  }

  /** Calls a tool that has to succeed, and returns its answer. */
  async result<T>(name: string, args: Record<string, unknown> = {}): Promise<T> {
    const { structuredContent, content, isError } = await this.call(name, args);
    if (isError || structuredContent === undefined) throw new Error(`${name}: ${JSON.stringify(content)}`);
    return structuredContent as T;
  }

  /** Calls a tool that has to fail, and returns its words. */
  async failure(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content, isError } = await this.call(name, args);
    if (isError !== true) throw new Error(`${name} did not fail: ${JSON.stringify(content)}`);
    return JSON.stringify(content);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Starts a run that lasts, whatever becomes of the daemon, and returns what its environment says of it. */
export async function lastingRun(home: Home, name: string): Promise<RunIdentity> {
  const file = join(home.dir, `${name}.identity`);
  const tell = `printenv PERDURE_RUN PERDURE_TOKEN PERDURE_SOCKET > ${file}.tmp && mv ${file}.tmp ${file}`;
  await home.start(name, ["sh", "-c", `${tell}; exec sleep 1000`]);
  await eventually("the identity of the run", () => existsSync(file));
  const [run = "", token = "", socket = ""] = readFileSync(file, "utf8").split("\n");
  return { run, token, socket };
}

/** Returns what the environment of a live run says of it. */
export function identityOf(home: Home, run: string): RunIdentity {
  const [{ pid } = { pid: 0 }] = home.processesOf(run);
  const variables = new Map(
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
  );
  const variable = (name: string): string => variables.get(name) ?? "";
  return { run, token: variable("PERDURE_TOKEN"), socket: variable("PERDURE_SOCKET") };
}

function quoted(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}
