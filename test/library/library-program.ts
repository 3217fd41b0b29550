import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Home } from "../support/home.ts";

const PACKAGE = resolve(import.meta.dirname, "../..");

/** Runs a program that imports "perdure" as an installed package, in the home's project. */
export function runLibraryProgram(home: Home, source: string, args: string[] = []): ChildProcess {
  const modules = join(home.dir, "node_modules");
  mkdirSync(modules, { recursive: true });
  try {
    symlinkSync(PACKAGE, join(modules, "perdure"));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const file = join(home.project, "guest.mjs");
  writeFileSync(file, source);
  return spawn(process.execPath, [file, ...args], {
    cwd: home.project,
    env: home.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Resolves with the output so far, once it contains the wanted text. */
export function outputWith(child: ChildProcess, wanted: string): Promise<string> {
  return new Promise((done, fail) => {
    let text = "";
    const onData = (chunk: Buffer): void => {
      text += chunk.toString();
      if (text.includes(wanted)) done(text);
    };
    child.stdout?.on("data", onData);
    child.stderr?.on("data", onData);
    child.once("close", () => fail(new Error(`ended without ${JSON.stringify(wanted)}: ${text}`)));
  });
}
