/** Who is told what a control client says. */
export interface ReplyListener {
  /** One command's answer. `ours`: to a line we sent; else to the command that the client was started with. */
  answer(lines: string[], ok: boolean, ours: boolean): void;
  notice(line: string): void;
  /** The word that ends the answer under way, if a program in a pane may have written that answer. */
  nonce(): string | null;
}

/**
 * Reads what a control client prints: answers between `%begin` and `%end`, notices between them. A line of an answer may
 * look like an end, and a pane's text is whatever its program printed: so an end counts only with its own beginning's
 * numbers, and an answer that a program may have written ends at a nonce that it cannot know.
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

  /** What is really the end is the last one that looks so: between it and the nonce only tmux itself has written. */
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
