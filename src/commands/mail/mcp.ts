import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { BRIDGE_PENDING_BYTES_MAX, BRIDGE_RETRY_MS_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { VERSION } from "../../protocol/version.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { DIST } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import type { Command } from "../shared/command.ts";
import type { BridgeOrder } from "./bridge.ts";
import { senderRef } from "./mail-common.ts";

export const mcp: Command = {
  summary: "serve a worker's mail to its agent as MCP tools",
  usage: "",
  details: [
    "Speaks MCP on standard input and output. Agents that perdure starts are told to start this by themselves. It acts as",
    "the worker whose run it is in, and nowhere else. Tools: send, ask, reply, inbox, list, whoami, context_log.",
  ].join("\n"),
  examples: ["perdure mcp"],
  words: [0, 0],

  async run() {
    const { env } = process;
    const bridge = { hello: helloOf(env), socket: env.PERDURE_SOCKET ?? "", startDaemon: [PERDURE, "daemon", "start"] };
    const perl = findProgram("perl", env.PATH, "/");
    if ("file" in perl && env.PERDURE_BRIDGE !== "node") return becomePerl(perl.file, bridge);
    const { runBridge } = await import("./bridge.ts");
    return runBridge(bridge, withoutIdentity(env));
  },
};

/** The perdure program itself. */
const PERDURE = join(DIST, "..", "bin", "perdure.js");

/** Makes the hello with the token of the run, of which the daemon knows the worker. */
function helloOf({ PERDURE_TOKEN: token, PERDURE_SOCKET: socket }: Environment): string {
  if (!token || !socket) {
    throw new PerdureError("refused", "perdure mcp serves the agent of a run, and this is not inside one.", {
      hint: "perdure run NAME -- COMMAND starts an agent, which then has the tools",
    });
  }
  return JSON.stringify({ mcp: 1, version: VERSION, bridge: randomUUID(), nested: senderRef().nested, token });
}

/**
 * Turns this process into the perl script, which needs a fifth of Node's memory. The token goes by the environment, which only this
 * user can read.
 */
function becomePerl(perl: string, { hello, socket, startDaemon }: BridgeOrder): never {
  const script = join(DIST, "..", "bin", "mcp-bridge.pl");
  const limits = [String(BRIDGE_PENDING_BYTES_MAX), String(BRIDGE_RETRY_MS_MAX / 1000)];
  const environment = { ...withoutIdentity(process.env), PERDURE_BRIDGE_HELLO: hello, PERL_BADLANG: "0" };
  // Node ignores this signal, and ignored signals survive exec; with a handler, exec puts the default back.
  process.on("SIGPIPE", () => undefined);
  if (process.execve === undefined) throw new Error("this Node has no process.execve");
  process.execve(perl, [perl, script, socket, ...limits, ...startDaemon], environment);
  throw new Error("execve returned");
}

/**
 * Returns the environment without the run: a bridge that outlives its agent for a moment must not look like a part of the run that
 * survived. Nor may the user's settings of perl change the script.
 */
function withoutIdentity(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && name !== "PERDURE_RUN" && name !== "PERDURE_TOKEN" && !name.startsWith("PERL");
  });
  return Object.fromEntries(kept);
}
