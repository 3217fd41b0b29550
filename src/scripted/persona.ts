import type { Environment } from "../util/environment.ts";

/** How one vendor's program looks from outside: its flags, its files, its output. One entry each in layouts/. */
export interface Layout {
  /** What the process calls itself; null leaves its command line as it is. */
  title: string | null;
  /** The words after the program's name for one headless prompt: how an agent of this kind starts another. */
  headless(prompt: string): string[];
  /** What a command line asks for. Throws a Refusal where this vendor would refuse. */
  read(argv: string[], env: Environment): Launch | Service;
}

export interface Launch {
  session: Wanted;
  name: string | null;
  model: string;
  /** The first prompt, if it was on the command line. */
  prompt: string | null;
  /** How a headless run speaks; null for an interactive one. */
  headless: Voice | null;
  sessions: Sessions;
  presence?: Presence;
  listener?: Listener;
  /** Called once with the id, before anything is shown or read: it may exec this process anew. */
  settle?(session: string): void;
}

/** Something that is no conversation, such as a server on standard input: runs to its end, with that exit code. */
export interface Service {
  serve(lines: AsyncIterable<string>): Promise<number>;
}

/** Without an id: a new one. */
export type Wanted = { kind: "new"; id: string | null } | { kind: "resume"; id: string };

export type Status = "idle" | "busy" | "blocked";

export interface Turn {
  role: "user" | "agent";
  text: string;
}

/** The vendor's conversations on disk. Both ways in throw a Refusal rather than give another conversation. */
export interface Sessions {
  mint(): string;
  begin(id: string, cwd: string): Conversation;
  resume(id: string): Conversation;
}

export interface Conversation {
  readonly id: string;
  readonly file: string;
  /** A title it was given in an earlier run. */
  readonly name: string | null;
  readonly turns: readonly Turn[];
  append(turn: Turn, cwd: string): void;
}

/** What can be known of an agent at a moment. */
export interface View {
  session: string;
  file: string;
  cwd: string;
  name: string | null;
  model: string;
  status: Status;
  turns: number;
}

/** Where the vendor tells other programs that this process lives. */
export interface Presence {
  show(view: View): void;
  leave(): void;
}

/** Whoever the vendor tells what happens: its hooks. The answer is what they said, to be shown beside. */
export type Listener = (event: Happening, view: View) => Promise<string>;

export type Happening =
  | { kind: "start"; source: "startup" | "resume" | "clear" }
  | { kind: "prompt"; text: string }
  | { kind: "stop"; answer: string }
  | { kind: "end"; reason: "exit" | "signal" | "clear" | "resume" };

/** How it speaks: to a person, or in one of the vendors' formats. */
export interface Voice {
  /** At the start, and when the session changes. */
  session(view: View, changed: boolean): void;
  /** It waits for a line. */
  ready(): void;
  answer(text: string, view: View): void;
  notice(text: string): void;
  /** After the last line. */
  end(view: View): void;
}

/** What it will not do, in the words of the vendor it is dressed as, with that vendor's exit code. */
export class Refusal extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
