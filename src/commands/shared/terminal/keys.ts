/**
 * Reads the keys that a terminal in raw mode sends: a name (`up`, `enter`, `ctrl-c`) or the character itself. What is pasted is
 * dropped: a paste into a list of workers is a mistake, and its letters must not act on them.
 */
export class KeyDecoder {
  #pasting = false;

  keysIn(text: string): string[] {
    return [...text.matchAll(PIECES)].flatMap(([piece]) => {
      if (piece === PASTE_BEGINS || piece === PASTE_ENDS) {
        this.#pasting = piece === PASTE_BEGINS;
        return [];
      }
      return this.#pasting ? [] : keyOf(piece);
    });
  }
}

const PASTE_BEGINS = "\u001b[200~";
const PASTE_ENDS = "\u001b[201~";

/** A sequence of the terminal, Alt with a key, or one character. */
// oxlint-disable-next-line no-control-regex -- keys are control characters
const PIECES = /\u001b(?:\[[\d;?<]*[ -/]*[@-~]|O[@-~]|[^\u001b])|[^]/gu;

const NAMES: Readonly<Record<string, string>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[5~": "page-up",
  "\u001b[6~": "page-down",
  "\u001b[H": "home",
  "\u001bOH": "home",
  "\u001b[1~": "home",
  "\u001b[F": "end",
  "\u001bOF": "end",
  "\u001b[4~": "end",
  "\u001b": "escape",
  "\r": "enter",
  "\n": "enter",
  "\u0003": "ctrl-c",
  "\u001a": "ctrl-z",
  "\u000c": "ctrl-l",
};

function keyOf(piece: string): string[] {
  const name = NAMES[piece];
  if (name !== undefined) return [name];
  return /^[^\p{Cc}\p{Cs}]$/u.test(piece) ? [piece] : [];
}
