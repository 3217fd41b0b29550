import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellWords } from "../../src/util/shell-quote.ts";
import { binFolder } from "./harness/pins.ts";
import type { LiveSetup } from "./setup.ts";

/**
 * Puts a shell script in front of the vendor's program on PATH, as a wrapper of the user's. It acts only on a start whose arguments
 * have the text, or on every start without one; what perdure itself asks the program goes through. In the script `real` is the
 * program. Returns a function that removes it.
 */
export function putInFront(setup: LiveSetup, script: string, text: string | null = null): () => void {
  const { name } = setup.vendor;
  const folder = join(setup.home.dir, "front");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  const real = shellWords([join(binFolder(name), name)]);
  const unconcerned = text === null ? "" : `case "$*" in *${shellWords([text])}*) ;; *) exec ${real} "$@" ;; esac\n`;
  writeFileSync(file, `#!/bin/sh\nreal() { ${real} "$@"; }\n${unconcerned}${script}\n`, { mode: 0o755 });
  const { PATH = "" } = setup.home.env;
  if (!PATH.startsWith(folder)) setup.home.env.PATH = `${folder}:${PATH}`;
  return () => rmSync(file);
}
