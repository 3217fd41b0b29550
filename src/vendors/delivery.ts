import type { AskProgram } from "./launch-plan.ts";

/** The delivery facet says how the text of mail reaches the program's model: never as keystrokes, and through no door of others. */
export interface DeliveryFacet {
  /** The hooks that can hand a text to the model, by the word with which the hook script is called. */
  readonly hooks: Readonly<Record<string, HookDelivery>>;
  /** How an idle program is made to begin a turn with a text; absent where it cannot be. */
  readonly wake?: WakeChannel;
  /** Puts a text into the conversation before a program starts that has no hooks; returns how long the conversation is then. */
  deposit?(text: string, place: DepositPlace): Promise<number>;
  /** Tells whether the conversation shows a text with the mark, for a program whose transcript is no file. */
  shows?(mark: string, place: WakePlace): Promise<boolean>;
  /**
   * Returns the part of a transcript's line that the conversation consists of, as far as others said it: not what the model said, what a
   * hook has printed, or what waits in a queue, because a program that is killed then never tells its model. By default, the whole line.
   */
  readonly toldIn?: (line: string) => string;
  /** How a text is pasted into the program's terminal, where no wake channel is open; absent for a program into which nothing is pasted. */
  readonly paste?: PasteForm;
  /** Code of ours inside the program shows its person a line about the worker, of which the daemon tells it by a file. */
  readonly showsStatusLine?: true;
  /** The program reads `@path` in what a user says as an order to show it the file. */
  readonly readsMentions?: true;
}

/** The word, among those of the hooks, for mail that the launch itself takes and deposits, just before the program starts. */
export const LAUNCH = "launch";

export interface HookDelivery {
  /** Returns what the hook prints so that the text reaches the model. */
  print(text: string): string;
  /** The text arrives as the system's or the developer's, with more authority than a user's. */
  readonly isPrivileged: boolean;
  /** The bytes that surely reach the model; of a longer text the program tells it a part. Absent where all of it arrives. */
  readonly bytesMax?: number;
  /** The hook prolongs the turn; without a terminal the output would no longer be the answer to the prompt that was given. */
  readonly prolongs?: true;
  /** The hook is used only without a terminal; with one, the program is woken. */
  readonly headlessOnly?: true;
}

export interface WakeChannel {
  /** The name of the channel, for people: "inbox socket". */
  readonly name: string;
  /** The text arrives with more authority than a user's. */
  readonly isPrivileged: boolean;
  /**
   * The channel is slow, so it carries no mail, only a line that makes the program begin a turn: the mail stays where the hook of that
   * turn, or of an earlier one, finds it.
   */
  readonly nudges?: true;
  /** How long an idle program may take to show the text in its conversation, where that is longer than usual. */
  readonly takesMs?: number;
  /** Tells whether the program, as it was started, can be reached this way at all; absent where it always can. */
  isOpen?(place: WakePlace): boolean;
  /** The program takes a text while it works, and goes on to it at the next boundary. */
  readonly queues?: true;
  /** The text is addressed to the conversation by its id: there is no need to know which one the program shows. */
  readonly isAddressed?: true;
  /**
   * Hands the text, in which the mark stands, to the program. False: it cannot be reached this way now, and nothing was handed over.
   */
  wake(text: string, at: WakePlace, mark: string): Promise<boolean>;
  /**
   * Looks where a text is that an idle program does not show, and finishes handing it over where only that was missing; for a channel
   * in which it takes more than one step, between which a daemon may have died.
   */
  finish?(text: HandedText, at: WakePlace): Promise<TextPlace>;
  /** Takes back what the program has not begun with; only for a channel in which a text outlives the process it was meant for. */
  withdraw?(at: WakePlace): Promise<void>;
}

/** A text as the channel knows it that was given it. */
interface HandedText {
  mark: string;
  lines: number;
}

/**
 * Where such a text is: the program was never given it; it has been given it just now; it stands where a person types, beside something
 * else; or it is in none of these places, and so on its way or gone.
 */
type TextPlace = "never given" | "given now" | "in the input line" | "nowhere";

/** The program that is about to be started. */
interface DepositPlace {
  /** The program and the words before its arguments. */
  command: readonly string[];
  cwd: string;
  environment: Record<string, string>;
  session: string;
  /** Runs the vendor's program once, in the worker's environment. */
  ask: AskProgram;
}

/** The screen of a program that takes bracketed pastes from its start to its end. */
export interface PasteForm {
  /** Tells whether it waits for input with nothing typed: with no dialog, and no line that a person has begun. */
  isEmpty(screen: string): boolean;
  /** Tells whether these words, behind them a paste of so many lines, and nothing else stand where it takes input. */
  isPasted(screen: string, head: string, lines: number): boolean;
  /** Tells whether the words stand there, whatever else does. */
  hasTyped(screen: string, words: string): boolean;
}

/** The running program that is to be woken. */
export interface WakePlace {
  runDir: string;
  configDir: string;
  /** The folder in which the program was started. */
  cwd: string;
  session: string;
  /** The pid of the program; null if it is not known. */
  pid: number | null;
  /** The arguments of the start. */
  args: readonly string[];
  /** Finds the vendor's program, for a channel that talks to another process of it; null where there is none any more. */
  program(): { command: readonly string[]; cwd: string; environment: Record<string, string> } | null;
  /** Runs the vendor's program once more, in the worker's environment. */
  ask: AskProgram;
}
