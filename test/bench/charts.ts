import { growthOf, type Curve } from "./growth.ts";
import { cellsOf, shareOfGoal, verdictOf, type Row } from "./report.ts";

// Plain SVG that reads on a light and on a dark page.

const WIDTH = 860;
const LABELS = 330;
const NUMBERS = 130;
const LINE = 22;
const MARGIN = 34;
/** The share of the goal at the right edge of the bars. */
const SHARE_MAX = 1.6;

const STYLE = `<style>text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#57606a}.ok{fill:#2da44e}.over{fill:#bf8700}.failed{fill:#cf222e}
.goal{stroke:#57606a;stroke-dasharray:4 3}.axis{stroke:#8c959f}.curve{fill:none;stroke:#0969da;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#adbac7}.goal{stroke:#adbac7}.curve{stroke:#539bf5}}</style>`;

/** One bar per figure: how much of its goal it uses up. The dashed line is the goal. */
export function barChart(rows: readonly Row[]): string {
  const judged = rows.filter(({ goal }) => goal !== null);
  const room = WIDTH - LABELS - NUMBERS;
  const goalAt = LABELS + room / SHARE_MAX;
  const height = MARGIN + judged.length * LINE + 10;
  const bars = judged.map((row, at) => {
    const y = MARGIN + at * LINE;
    const length = (Math.min(shareOfGoal(row), SHARE_MAX) / SHARE_MAX) * room;
    const [, , , figure = "", goal = ""] = cellsOf(row);
    return `<text x="${LABELS - 8}" y="${y + 14}" text-anchor="end">${escaped(row.what)}</text>
<rect class="${CLASSES[verdictOf(row)]}" x="${LABELS}" y="${y + 3}" width="${length.toFixed(1)}" height="${LINE - 7}" rx="2"/>
<text x="${WIDTH - NUMBERS + 6}" y="${y + 14}">${escaped(`${figure} (${goal})`)}</text>`;
  });
  return svg(
    height,
    `<text x="${goalAt}" y="18" text-anchor="middle">goal</text>
<line class="goal" x1="${goalAt}" y1="24" x2="${goalAt}" y2="${height - 6}"/>
${bars.join("\n")}`,
  );
}

const CLASSES = { ok: "ok", "over the goal": "over", FAILED: "failed", "the least": "ok", "": "ok" };

const PANEL_WIDTH = 200;
const PANEL_HEIGHT = 120;
const PER_ROW = 4;

/** One small panel per call and axis: what it takes in floors, from the smallest size to the largest, from zero on. */
export function lineCharts(curves: readonly Curve[]): string {
  const panels = curves.map((curve, at) => {
    const [x, y] = [10 + (at % PER_ROW) * (PANEL_WIDTH + 12), 10 + Math.floor(at / PER_ROW) * (PANEL_HEIGHT + 20)];
    return panel(curve, x, y);
  });
  return svg(20 + Math.ceil(curves.length / PER_ROW) * (PANEL_HEIGHT + 20), panels.join("\n"));
}

function panel(curve: Curve, x: number, y: number): string {
  const { what, axis, sizes, figures } = curve;
  const [top, bottom] = [y + 44, y + PANEL_HEIGHT - 18];
  const most = 1.25 * Math.max(...figures);
  const points = figures.map((figure, at) => {
    const right = x + (at / Math.max(1, figures.length - 1)) * PANEL_WIDTH;
    return `${right.toFixed(1)},${(bottom - (figure / most) * (bottom - top)).toFixed(1)}`;
  });
  const [least = 0, largest = 0] = [sizes[0], sizes.at(-1)];
  return `<text x="${x}" y="${y + 14}">${escaped(what)}: ${growthOf(curve).toFixed(2)} ×</text>
<text x="${x}" y="${y + 31}">${least.toLocaleString("en")} to ${largest.toLocaleString("en")} ${escaped(axis)}</text>
<line class="axis" x1="${x}" y1="${bottom}" x2="${x + PANEL_WIDTH}" y2="${bottom}"/>
<polyline class="curve" points="${points.join(" ")}"/>`;
}

function svg(height: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">
${STYLE}
${content}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
