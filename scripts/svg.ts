// A terminal's text, colours and all, as a picture: no font and no script of its own, so that any browser shows it.

export interface Look {
  /** Said to those who cannot see it. */
  title: string;
  columns: number;
}

interface Style {
  colour: string | null;
  bold: boolean;
  dim: boolean;
}

/** A piece of text in one style, with nothing but single blanks in it. */
interface Piece extends Style {
  column: number;
  text: string;
}

const FONT_SIZE = 14;
/** The character width of most monospaced fonts; the others are stretched to it, so that columns stay columns. */
const CELL = 8.4;
const LINE = 20;
const PADDING = 20;
const BAR = 36;

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const SHEET = `
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d0d7de;white-space:pre}
.bold{font-weight:600;fill:#fff}.dim{fill-opacity:.6}
.black{fill:#6e7681}.red{fill:#ff7b72}.green{fill:#56d364}.yellow{fill:#e3b341}
.blue{fill:#79c0ff}.magenta{fill:#d2a8ff}.cyan{fill:#56d4dd}.white{fill:#fff}`;

/** Draws the output of `tmux capture-pane -e`. */
export function terminalSvg(screen: string, { title, columns }: Look): string {
  const lines = piecesOf(screen.trimEnd());
  const width = Math.ceil(columns * CELL + 2 * PADDING);
  const height = BAR + lines.length * LINE + PADDING;
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (fill, at) => `<circle cx="${PADDING + 6 + at * 20}" cy="20" r="6" fill="${fill}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${SHEET}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#30363d"/>`,
    ...dots,
    ...lines.flatMap((pieces, at) => (pieces.length === 0 ? [] : lineSvg(pieces, BAR + at * LINE + FONT_SIZE))),
    "</svg>\n",
  ].join("\n");
}

function lineSvg(pieces: readonly Piece[], y: number): string {
  const spans = pieces.map((piece) => {
    const classes = [piece.colour, piece.bold && "bold", piece.dim && "dim"].filter(Boolean).join(" ");
    const length = round(Array.from(piece.text).length * CELL);
    const place = `x="${round(PADDING + piece.column * CELL)}" textLength="${length}"`;
    return `<tspan ${place}${classes && ` class="${classes}"`}>${escaped(piece.text)}</tspan>`;
  });
  return `<text y="${y}">${spans.join("")}</text>`;
}

/** Line by line. A style goes on at the next line, as it does in a terminal. */
function piecesOf(screen: string): Piece[][] {
  const style: Style = { colour: null, bold: false, dim: false };
  return screen.split("\n").map((line) => {
    const pieces: Piece[] = [];
    let column = 0;
    // oxlint-disable-next-line no-control-regex -- the escape of terminals is what this reads
    for (const [part, codes] of line.matchAll(/\u001b\[([\d;]*)m|[^\u001b]+/g)) {
      if (codes !== undefined) {
        for (const code of codes.split(";")) obey(style, Number(code));
        continue;
      }
      for (const { 0: text, index } of part.matchAll(/\S+(?: \S+)*/g)) {
        pieces.push({ ...style, column: column + Array.from(part.slice(0, index)).length, text });
      }
      column += Array.from(part).length;
    }
    return pieces;
  });
}

function obey(style: Style, code: number): void {
  if (code === 0) Object.assign(style, { colour: null, bold: false, dim: false });
  if (code === 1) style.bold = true;
  if (code === 2) style.dim = true;
  if (code === 22) Object.assign(style, { bold: false, dim: false });
  if (code === 39) style.colour = null;
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style.colour = COLOURS[code % 10] ?? null;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
