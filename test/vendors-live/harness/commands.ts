import { spawn } from "node:child_process";
import { finish, type Finished } from "../../support/home.ts";
import type { VendorHome } from "./homes.ts";
import type { Vendor } from "./vendor.ts";

const HEADLESS_TIMEOUT_MS = 120_000;

/** The words that ask one question without a terminal; `session` are the arguments that name the conversation. */
export function headlessCommand({ name, headless }: Vendor, session: readonly string[], prompt: string): string[] {
  return [name, ...headless.before, ...session, ...headless.after(prompt)];
}

/** The words that open the program in a terminal. */
export function interactiveCommand({ name, interactive }: Vendor, session: readonly string[]): string[] {
  return [name, ...interactive.before, ...session, ...interactive.after];
}

/** Runs a command in a home's project to its end. */
export async function runIn(
  home: Pick<VendorHome, "project" | "env">,
  [program = "", ...args]: readonly string[],
): Promise<Finished> {
  const options = { cwd: home.project, env: home.env, timeout: HEADLESS_TIMEOUT_MS, killSignal: "SIGKILL" } as const;
  return finish(spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] }));
}
