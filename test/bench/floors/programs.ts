import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CallName, CallParams } from "../../../src/protocol/calls/index.ts";
import { wireNameOf } from "../../../src/protocol/calls/wire-names.ts";
import { PROTOCOL_VERSION, VERSION } from "../../../src/protocol/version.ts";
import { statePaths } from "../../../src/state/paths.ts";
import type { Home } from "../../support/home.ts";

/** A command line with its environment. */
export interface BareCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
}

const PROGRAM = join(import.meta.dirname, "bare-call.cjs");

/** Makes the command that asks the daemon of a home for one thing, behind a shell as `perdure` is, and then becomes a program, if one is named. */
export function bareCall<N extends CallName>(
  home: Home,
  call: N,
  params: CallParams<N>,
  program: readonly string[] = [],
): BareCommand {
  const { socket } = statePaths(home.env);
  return {
    file: shellInFront(home),
    args: [PROGRAM, socket, wireNameOf(call), JSON.stringify(params), ...program],
    env: { ...home.env, BARE_PROTOCOL: `${PROTOCOL_VERSION} ${VERSION}` },
  };
}

/** Makes the command that runs an empty file behind a shell. */
export function bareStart(home: Home): BareCommand {
  const empty = join(home.dir, "empty.cjs");
  writeFileSync(empty, "");
  return { file: shellInFront(home), args: [empty], env: home.env };
}

function shellInFront(home: Home): string {
  const file = join(home.dir, "bare.sh");
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
  return file;
}

/** Starts one of the bare programs that stay, with the flags of the daemon where it is to be compared with that; resolves when it is ready. */
export async function bareProgram(
  name: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<ChildProcess> {
  const program = resolve(import.meta.dirname, name);
  const child = spawn(process.execPath, [...flags, program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}
