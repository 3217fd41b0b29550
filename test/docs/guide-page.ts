import { readFileSync } from "node:fs";

/** A page says in `<!-- test: … -->`, below its title, what has to be there before its commands are typed. */
export interface PageSetting {
  /** Vendors whose programs are on PATH, played by the scripted agent. */
  agents: string[];
  /** Whether a fleet of those agents is up. */
  fleet: boolean;
  /** Whether a conversation of the first agent was begun by hand. */
  conversation: boolean;
  /** Whether the fleet file has a worker of turns. */
  turns: boolean;
  /** Whether the project's folder was renamed to `moved` in the meantime. */
  moved: boolean;
}

/** One command of a page, and how a person would type it. */
export interface PageCommand {
  line: string;
  /** The exit code it has. */
  exit: number;
  /** The answer, typed with Enter behind it, when the command asks. */
  answer: string | null;
  /** Keys, by tmux's names, that leave the program once it shows something. */
  keys: string[] | null;
  /** The folder, from the project, in which it is typed. */
  folder: string;
}

export interface GuidePage {
  title: string;
  setting: PageSetting;
  commands: PageCommand[];
  /** The blocks that a test cannot run, with the reason. */
  notRun: { block: string; reason: string }[];
}

/** Reads a page's ```sh blocks with the comments in front of them, which nobody sees who reads the page. */
export function readGuidePage(file: string): GuidePage {
  const text = readFileSync(file, "utf8");
  const [first = "", ...blocks] = text.split(/^```sh\n/m);
  const page: GuidePage = {
    title: /^# (.+)$/m.exec(text)?.[1] ?? "",
    setting: setting(first),
    commands: [],
    notRun: [],
  };
  let before = first.replace(/^[^]*?^# .*\n+(<!-- test: .*-->)?/m, "");
  for (const each of blocks) {
    const end = each.indexOf("```\n");
    const block = each.slice(0, end);
    const reason = /<!-- not run here: (.+) -->\n$/.exec(before)?.[1];
    if (reason !== undefined) page.notRun.push({ block, reason });
    else page.commands.push(...commandsOf(block, directives(/<!-- test: (.+) -->\n$/.exec(before)?.[1])));
    before = each.slice(end + 4);
  }
  return page;
}

function setting(head: string): PageSetting {
  const told = directives(/^# .*\n+<!-- test: (.+) -->/m.exec(head)?.[1]);
  return {
    agents: (told.get("agents") ?? "").split(" ").filter(Boolean),
    fleet: told.has("fleet"),
    turns: told.has("turns"),
    conversation: told.has("conversation"),
    moved: told.has("moved"),
  };
}

function commandsOf(block: string, told: ReadonlyMap<string, string>): PageCommand[] {
  return block
    .split("\n")
    .filter(Boolean)
    .map((line) => ({
      line,
      exit: Number(told.get("exit") ?? 0),
      answer: told.get("answer") ?? null,
      keys: told.get("keys")?.split(" ") ?? null,
      folder: told.get("in") ?? ".",
    }));
}

/** Parses `agents claude codex; fleet` into its words and what stands behind each. */
function directives(text = ""): Map<string, string> {
  return new Map(
    text
      .split(";")
      .map((each) => each.trim())
      .filter(Boolean)
      .map((each) => {
        const [word = "", ...value] = each.split(" ");
        return [word, value.join(" ")];
      }),
  );
}
