import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { barChart, lineCharts } from "./charts.ts";
import { growthOf, processorTime, type Curve } from "./growth.ts";
import { cellsOf, COLUMNS, type Row } from "./report.ts";

const DOCS = resolve(import.meta.dirname, "../../docs");

/** Puts the figures of this run into docs/bench.md and draws docs/bench.svg. The words around them are written by hand. */
export function writeFigures(rows: readonly Row[]): void {
  writeFileSync(join(DOCS, "bench.svg"), barChart(rows));
  replaceSection("figures", `${origin()}\n\n${table(COLUMNS, rows.map(cellsOf))}`);
}

/** Does the same for the growth, with docs/bench-growth.svg. */
export function writeGrowth(curves: readonly Curve[]): void {
  writeFileSync(join(DOCS, "bench-growth.svg"), lineCharts(curves));
  const rows = curves.map((curve) => {
    const { axis, what, sizes, figures, processor } = curve;
    const range = `${sizes[0]?.toLocaleString("en")} to ${sizes.at(-1)?.toLocaleString("en")} ${axis}`;
    const steps = figures.map((figure) => figure.toFixed(2)).join(", ");
    return [what, range, steps, `${growthOf(curve).toFixed(2)} ×`, processorTime(processor.at(-1))];
  });
  replaceSection(
    "growth",
    `${origin()}\n\n${table(["what", "over", "in the smallest", "grows", "of processor time"], rows)}`,
  );
}

/** The machine and how busy it was, the day and the commit. */
function origin(): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", cwd: DOCS }).trim();
  const day = new Date().toISOString().slice(0, 10);
  const load = loadavg()[2]?.toFixed(1);
  return `Taken on ${day} at commit ${commit}: ${cpus().length} × ${cpus()[0]?.model ?? "?"} with a load of ${load}, Node ${process.version}.`;
}

function table(columns: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

function replaceSection(name: string, text: string): void {
  const file = join(DOCS, "bench.md");
  const [begin, end] = [`<!-- ${name}: written by npm run bench -->`, `<!-- end of ${name} -->`];
  const page = readFileSync(file, "utf8");
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no section of ${name}`);
  writeFileSync(file, `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`);
}
