import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../util/environment.ts";
import { VERSION } from "../../protocol/version.ts";
import { readIfThere } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import { readFlags } from "../flags.ts";
import { openInboxFile } from "../inbox-file.ts";
import {
  PersonaRefusal,
  type OpenConversation,
  type ScriptedLaunch,
  type Persona,
  type ConversationStore,
  type ConversationTurn,
  type AgentOutput,
} from "../persona.ts";
import { ownStart, registryFile } from "../presence-file.ts";
import { parseLine, readLines, TranscriptFile, type TranscriptFormat } from "../transcript-file.ts";
import { uuid } from "../uuid.ts";
import { plainOutput } from "../outputs.ts";
import { printJson } from "../print.ts";

const USAGE = `perdure-scripted [--session-id ID [--fork ID]] [--resume ID] [--name N] [--model M] [--persona P] [--script "cmd; cmd"]
                 [-p|--print] [--json] [--unasked] [PROMPT]`;

/** The scripted agent as itself: the simplest agent that keeps a transcript and a presence file. */
export const scriptedPersona: Persona = {
  name: "scripted",
  title: null,
  headless: (prompt) => ["-p", "--", prompt],

  read(argv, env): ScriptedLaunch {
    const { values, positionals } = readFlags(argv, FLAGS, (flag, problem) => {
      return usage(problem.startsWith("Unknown") ? `there is no option ${flag}` : problem);
    });
    if (values.help) throw new PersonaRefusal(USAGE, 0);
    if (values.version) throw new PersonaRefusal(VERSION, 0);
    const { resume, fork, "session-id": id } = values;
    if (resume !== undefined && id !== undefined) throw usage("--resume and --session-id exclude each other");
    if (positionals.length > 1) throw usage("the prompt is one argument: quote it");
    const home = homeOf(env);
    const inbox = values.print ? undefined : env[INBOX_VARIABLE];
    return {
      session: resume === undefined ? { kind: "new", id: id ?? null } : { kind: "resume", id: resume },
      name: values.name ?? null,
      model: values.model ?? "none",
      prompt: positionals[0] ?? null,
      headless: values.print ? (values.json ? jsonOutput : plainOutput) : null,
      conversations: conversationsIn(join(home, "sessions"), fork ?? null),
      presence: registryFile(join(home, "live"), ({ session, cwd, name, status }) => {
        return { pid: process.pid, procStart: ownStart(), session, cwd, name, status };
      }),
      ...(inbox && { openInbox: (push, session) => openInboxFile(inbox, session, push) }),
    };
  },
};

/** The variable names the file in which prompts are left for the agent. It is not passed on: what the agent starts is another agent. */
export const INBOX_VARIABLE = "PERDURE_SCRIPTED_INBOX";

const FLAGS = {
  "session-id": { type: "string" },
  resume: { type: "string" },
  fork: { type: "string" },
  name: { type: "string" },
  model: { type: "string" },
  print: { type: "boolean", short: "p" },
  json: { type: "boolean" },
  unasked: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

function usage(problem: string): PersonaRefusal {
  return new PersonaRefusal(`perdure-scripted: ${problem}\n${USAGE}`, 2);
}

function homeOf(env: Environment): string {
  if (env.PERDURE_SCRIPTED_HOME) return env.PERDURE_SCRIPTED_HOME;
  return join(env.XDG_DATA_HOME || join(homeDir(env), ".local", "share"), "perdure-scripted");
}

function conversationsIn(folder: string, stem: string | null): ConversationStore {
  const fileOf = (id: string): string => {
    // It becomes a file's name.
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id))
      throw new PersonaRefusal(`${JSON.stringify(id)} cannot be a session's id.`);
    return join(folder, `${id}.jsonl`);
  };
  const read = (id: string): { cwd: string; turns: ConversationTurn[] } => {
    const content = readIfThere(fileOf(id));
    if (content === null) throw new PersonaRefusal(`There is no session ${id}.`);
    const header = parseLine(content.split("\n")[0] ?? "");
    if (header?.type !== "session" || header.id !== id) {
      throw new PersonaRefusal(
        `Session ${id} cannot be read: ${content === "" ? "its file is empty" : "its first line is broken"}.`,
      );
    }
    return { cwd: String(header.cwd), turns: turnsOf(content) };
  };
  let branch = stem;
  return {
    mint: uuid,
    begin(id, cwd): OpenConversation {
      const file = fileOf(id);
      if (existsSync(file)) throw new PersonaRefusal(`Session ${id} already exists; --resume ${id} goes on with it.`);
      // Only the first one is the branch: `/new` begins with nothing.
      const turns = branch === null ? [] : read(branch).turns;
      branch = null;
      return new TranscriptFile(id, file, formatOf(id, cwd, [...turns]), { turns });
    },
    resume(id): OpenConversation {
      const { cwd, turns } = read(id);
      return new TranscriptFile(id, fileOf(id), formatOf(id, cwd), { turns });
    },
  };
}

function formatOf(id: string, cwd: string, inherited: readonly ConversationTurn[] = []): TranscriptFormat {
  const line = ({ role, text }: ConversationTurn): object => ({ type: role, text });
  return {
    opening: () => [
      { type: "session", id, cwd, createdAt: new Date().toISOString(), version: VERSION },
      ...inherited.map(line),
    ],
    line,
  };
}

function turnsOf(content: string): ConversationTurn[] {
  return readLines(content).flatMap(({ type, text }): ConversationTurn[] => {
    if (typeof text !== "string") return [];
    return type === "user" || type === "agent" ? [{ role: type, text }] : [];
  });
}

const jsonOutput: AgentOutput = {
  session: ({ session }) => printJson({ type: "init", session }),
  ready: () => undefined,
  answer: (text, { session }) => printJson({ type: "answer", session, text }),
  notice: (text) => printJson({ type: "notice", text }),
  end: ({ session }) => printJson({ type: "end", session }),
};
