import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../support/home.ts";
import { check, pick } from "../support/check.ts";
import { InstalledPersona } from "../support/persona.ts";
import { hostileFileName, hostileText } from "./22-payload.ts";

/** One verb, where it is called, and whether hostile data has to show in what it prints; talk is silent with --json. */
export interface Listing {
  args: string[];
  cwd: string;
  shows: boolean | "as talk";
  /** With --json it is a stream that ends only when somebody ends it. */
  endless?: true;
}

/** Hostile data in every place that takes some; returns all the verbs that print data. */
export async function plantHostileData(home: Home, round: number, random: () => number): Promise<Listing[]> {
  const folder = join(home.dir, `${round} ${hostileFileName(random)}`);
  mkdirSync(folder);
  const perdure = async (args: string[]): Promise<void> => {
    const { code, stderr } = await home.perdure(args, { cwd: folder });
    check(code === 0, `${args[0]} of hostile data ended with ${code}: ${stderr}`);
  };
  const persona = new InstalledPersona(home, "scripted");
  const talk = await persona.begin("talker", [], { cwd: folder });
  await talk.say(hostileText(random).replaceAll("\u0085", "").replaceAll("\u2028", ""));
  await talk.end();
  await perdure(["run", "coder", "--", "true"]);
  const attachment = join(folder, hostileFileName(random));
  writeFileSync(attachment, "attached");
  const ids = { sent: `sent-${round}`, asked: `asked-${round}`, answer: `answer-${round}` };
  await perdure(["send", "coder", hostileText(random), "--id", ids.sent, "--attach", attachment]);
  await perdure(["send", "coder", hostileText(random), "--expects-reply", "--id", `wants-${round}`]);
  await perdure(["send", "operator", `${hostileText(random)}\n${hostileText(random)}`, "--expects-reply"]);
  await answeredAsk(home, folder, ids, hostileText(random));
  // Last, so that it is what the next start runs again, and says so.
  await perdure(["run", "coder", "--", "sh", "-c", ": ignored", hostileText(random)]);
  await perdure(["save", `saved-${round}`]);
  const broken = brokenProject(home, round, random);
  return listings(folder, broken, ids, round, random);
}

/** An ask whose answer is hostile; asked again under its id, it prints that answer. */
async function answeredAsk(home: Home, cwd: string, { asked }: { asked: string }, answer: string): Promise<void> {
  const ask = await home.perdure(["ask", "coder", "well?", "--id", asked, "--timeout", "1ms"], { cwd });
  check(ask.code === 6, `an ask that nobody answers ended with ${ask.code}: ${ask.stderr}`);
  writeFileSync(join(home.dir, "answer"), answer);
  const script = `'${join(import.meta.dirname, "../../bin/perdure.js")}' reply ${asked} --file '${join(home.dir, "answer")}'`;
  const replied = await home.perdure(["run", "coder", "--", "sh", "-c", script], { cwd });
  check(replied.code === 0, `a hostile answer ended with ${replied.code}: ${replied.stderr}`);
}

/** A perdure.toml that cannot be read: what is wrong with it is told, with what it says. */
function brokenProject(home: Home, round: number, random: () => number): string {
  const folder = join(home.dir, `broken-${round}`);
  mkdirSync(folder);
  const name = JSON.stringify(hostileText(random)).replace(/[\u007f-\u009f]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  const text = pick(random, [`[workers.${name}]\n`, `project = ${name}\n`, `[workers.a]\n${name} = 1\n`]);
  writeFileSync(join(folder, "perdure.toml"), text);
  return folder;
}

function listings(
  folder: string,
  broken: string,
  ids: { sent: string; asked: string },
  round: number,
  random: () => number,
): Listing[] {
  const here = (shows: Listing["shows"], ...args: string[]): Listing => ({ args, cwd: folder, shows });
  return [
    here(true),
    here(false, "ls", "--all"),
    { ...here(true, "ls", "--watch"), endless: true },
    here(true, "show", "coder"),
    here(true, "show", "talker"),
    here(false, "history", "coder"),
    here(true, "history", "talker"),
    here(true, "inbox", "coder"),
    here(true, "inbox", "coder", "--all"),
    here(true, "inbox", "--peek"),
    here(true, "pending"),
    here(true, "mail", ids.sent),
    here(true, "mail", ids.asked),
    here(true, "ask", "coder", "well?", "--id", ids.asked, "--timeout", "5s"),
    here(false, "events", "--all"),
    here(true, "adopt"),
    here(true, "adopt", "--all"),
    here(false, "saved"),
    here(false, "drill"),
    here(true, "doctor"),
    here(true, "project"),
    here(true, "project", "ls"),
    here(true, "whoami", "--as", hostileText(random)),
    here(true, "context", "path", "--absolute"),
    here(false, "context", "recover"),
    here(true, "backup", join(folder, "copy.db")),
    here("as talk", "run", "coder"),
    here(false, "send", "coder", "x", "--id", hostileText(random)),
    here(true, "send", hostileText(random), "x"),
    here(false, "mail", hostileText(random)),
    here(true, hostileText(random)),
    here(true, "ls", `--${hostileText(random)}`),
    here(false, "inbox"),
    here(false, "forget", `saved-${round}`),
    { args: ["project"], cwd: broken, shows: true },
    { args: ["ls"], cwd: broken, shows: "as talk" },
    { args: ["doctor"], cwd: broken, shows: true },
  ];
}
