import { expect, test } from "vitest";
import { terminalSvg } from "../../scripts/svg.ts";

const LOOK = { title: "a <fleet> & more", columns: 40 };

function spans(screen: string): string[] {
  return [...terminalSvg(screen, LOOK).matchAll(/<text y="(\d+)">(.*)<\/text>/g)].map(
    ([, y, inside = ""]) => `${y} ${inside.replaceAll(/ textLength="[\d.]+"/g, "")}`,
  );
}

test("text stands in its column and its line, with what XML would take for its own escaped", () => {
  expect(spans("$ a  <b> & c\n\n  ● d")).toEqual([
    '50 <tspan x="20">$ a</tspan><tspan x="62">&lt;b&gt; &amp; c</tspan>',
    '90 <tspan x="36.8">● d</tspan>',
  ]);
});

test("colours are followed, over the end of a line, until something ends them", () => {
  expect(
    spans("\u001b[1mname\u001b[0m \u001b[2m\u001b[32mok\n\u001b[0;31mno\u001b[39m plain \u001b[1;96mx\u001b[22my"),
  ).toEqual([
    '50 <tspan x="20" class="bold">name</tspan><tspan x="62" class="green dim">ok</tspan>',
    '70 <tspan x="20" class="red">no</tspan><tspan x="45.2">plain</tspan><tspan x="95.6" class="cyan bold">x</tspan><tspan x="104" class="cyan">y</tspan>',
  ]);
});

test("every piece is as long as its columns, whatever the font, and the picture as large as the text", () => {
  const svg = terminalSvg("a…c\nd\n\n\n", LOOK);
  expect(svg).toContain('<tspan x="20" textLength="25.2">a…c</tspan>');
  expect(svg).toMatch(/^<svg [^>]*width="376" height="96"/);
  expect(svg).toContain("<title>a &lt;fleet&gt; &amp; more</title>");
  expect(svg).not.toMatch(/<script|href|url\(/);
});
