import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { Home } from "../support/home.ts";

export const NOBODY = 65_534;

interface Planted {
  what: string;
  /** Puts it there; returns how to take it away, so that the home can be cleared. */
  plant: (state: string, home: Home) => Promise<() => void>;
}

/** Things that somebody else may have put in place of the state folder, before it was first used. */
export const PLANTED: readonly Planted[] = [
  at("a folder that everybody may write to", (state) => folder(state, 0o777)),
  at("a folder that the group may read", (state) => folder(state, 0o750)),
  at("another user's folder", (state) => {
    folder(state, 0o700);
    chownSync(state, NOBODY, NOBODY);
  }),
  at("a symbolic link to a safe folder", (state) => {
    folder(`${state}-target`, 0o700);
    symlinkSync(`${state}-target`, state);
  }),
  at("a symbolic link to nowhere", (state) => symlinkSync(`${state}-nowhere`, state)),
  at("a file", (state) => writeFileSync(state, "", { mode: 0o600 })),
  at("a folder below one that everybody may rename in", (state) => {
    folder(state, 0o700);
    chmodSync(dirname(state), 0o777);
  }),
  at("a folder below another user's", (state) => {
    folder(state, 0o700);
    chownSync(dirname(state), NOBODY, NOBODY);
  }),
  { what: "a listening socket", plant: listen },
  { what: "an open folder where the socket of a deep state folder goes", plant: openSocketFolder },
];

function at(what: string, put: (state: string) => void): Planted {
  return {
    what,
    plant: async (state) => {
      put(state);
      return () => rmSync(state, { recursive: true, force: true });
    },
  };
}

/** Makes a folder with that mode, whatever the umask. */
function folder(path: string, mode: number): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
}

async function listen(state: string): Promise<() => void> {
  const server = createServer().listen(state);
  await once(server, "listening");
  return () => server.close();
}

async function openSocketFolder(state: string, home: Home): Promise<() => void> {
  const deep = join(state, "d".repeat(60), "e".repeat(60));
  folder(state, 0o700);
  mkdirSync(deep, { recursive: true, mode: 0o700 });
  for (const inner of ["logs", "runs"]) mkdirSync(join(deep, inner), { mode: 0o700 });
  home.env.PERDURE_HOME = deep;
  const short = join(home.dir, ".perdure", createHash("sha256").update(deep).digest("hex").slice(0, 12));
  folder(short, 0o777);
  return () => rmSync(short, { recursive: true, force: true });
}
