import assert from "node:assert/strict";
import { copyFileSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runIn } from "./harness/commands.ts";
import type { LiveSetup } from "./setup.ts";
import type { Database } from "./traits.ts";

/** One kind of damage to a conversation on disk. */
export interface Damage {
  /** The word the refusal has for it. */
  says: string;
  does: () => void | Promise<void>;
  undo: () => void | Promise<void>;
}

const GARBAGE = "\u0000garbage\n";

/** The conversation is gone, and comes back whole. */
export function loss(setup: LiveSetup, session: string): Damage {
  const { database } = setup.traits;
  const [file = ""] = setup.filesOf(session);
  const away = join(setup.home.dir, "away");
  if (database) return deletion(setup, database, session, away);
  return { says: "is gone", does: () => renameSync(file, away), undo: () => renameSync(away, file) };
}

export function damages(setup: LiveSetup, session: string): Damage[] {
  const [file = ""] = setup.filesOf(session);
  const gone = loss(setup, session);
  if (setup.traits.database) {
    const clear = (): void => filesBeside(file).forEach((each) => rmSync(each));
    return [
      gone,
      { says: "is damaged", ...kept(file, () => (clear(), writeFileSync(file, GARBAGE.repeat(9_000)))) },
      { says: "is gone", ...kept(file, clear) },
    ];
  }
  const whole = readFileSync(file, "utf8");
  const written = (says: string, text: string): Damage => ({
    says,
    does: () => writeFileSync(file, text),
    undo: () => writeFileSync(file, whole),
  });
  return [
    gone,
    written("is empty", ""),
    written("is damaged", GARBAGE.repeat(whole.length / 8)),
    written("was cut short", firstHalf(whole)),
  ];
}

/** Damage to a database, done with the vendor's own program. */
function deletion(setup: LiveSetup, { print, remove, takeIn }: Database, session: string, away: string): Damage {
  const ask = async (args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runIn(setup.home, [setup.vendor.name, ...args]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  return {
    says: "is gone",
    does: async () => {
      writeFileSync(away, await ask(print(session)));
      await ask(remove(session));
    },
    undo: () => ask(takeIn(away)).then(() => rmSync(away)),
  };
}

/** A database with the files beside it, put back as they were. */
function kept(file: string, does: () => void): Pick<Damage, "does" | "undo"> {
  const safe = join(dirname(file), "safe");
  const copyAll = (from: string, to: string): void =>
    filesBeside(join(from, basename(file))).forEach((each) => copyFileSync(each, join(to, basename(each))));
  return {
    does: () => {
      mkdirSync(safe);
      copyAll(dirname(file), safe);
      does();
    },
    undo: () => {
      filesBeside(file).forEach((each) => rmSync(each));
      copyAll(safe, dirname(file));
      rmSync(safe, { recursive: true });
    },
  };
}

function filesBeside(file: string): string[] {
  return globSync(`${file}*`);
}

/** Cuts a transcript after whole lines: every one of them good. */
function firstHalf(text: string): string {
  const lines = text.split("\n");
  return `${lines.slice(0, Math.ceil(lines.length / 2)).join("\n")}\n`;
}
