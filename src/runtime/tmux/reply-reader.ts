/** Receives what a control client prints. */
export interface ReplyListener {
  /** Takes the answer of one command; `ours` is false for the command that the client was started with. */
  answer(lines: string[], ok: boolean, ours: boolean): void;
  notice(line: string): void;
  /** Returns the word that ends the current answer, if a program in a pane may have written that answer. */
  nonce(): string | null;
}

/**
 * Reads what a control client prints: answers between `%begin` and `%end`, notices between answers. A line of an answer may
 * look like an end, and a pane's text is whatever its program printed: so an end counts only with the numbers of its
 * beginning, and an answer that a program may have written ends at a nonce that the program cannot know.
 */
export class ReplyReader {
  readonly #listener: ReplyListener;
  #rest = "";
  #key: string | null = null;
  #lines: string[] = [];

  constructor(listener: ReplyListener) {
    this.#listener = listener;
  }

  read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (this.#key === null) {
      if (line.startsWith("%begin ")) this.#begin(line);
      else if (line.startsWith("%")) this.#listener.notice(line);
      return;
    }
    const nonce = this.#listener.nonce();
    if (nonce !== null) {
      if (line === nonce) this.#endAtNonce(this.#key, nonce);
      else this.#lines.push(line);
    } else if (line === `%end ${this.#key}`) this.#end(true);
    else if (line === `%error ${this.#key}`) this.#end(false);
    else this.#lines.push(line);
  }

  #begin(line: string): void {
    this.#key = line.slice("%begin ".length);
    this.#lines = [];
  }

  #end(ok: boolean): void {
    const [lines, ours] = [this.#lines, this.#key?.endsWith(" 1") ?? false];
    this.#key = null;
    this.#lines = [];
    this.#listener.answer(lines, ok, ours);
  }

  /** Takes the last line that looks like an end as the end: between it and the nonce only tmux itself has written. */
  #endAtNonce(key: string, nonce: string): void {
    const lines = this.#lines;
    const end = lines.findLastIndex((line) => line === `%end ${key}` || line === `%error ${key}`);
    const after = lines.slice(end + 1);
    this.#lines = lines.slice(0, end);
    this.#end(lines[end]?.startsWith("%end") ?? false);
    const begin = after.pop();
    for (const line of after) this.#listener.notice(line);
    this.#begin(begin ?? "");
    this.#lines.push(nonce);
  }
}
