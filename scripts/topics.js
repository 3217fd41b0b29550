// The pages by task, as `perdure help TOPIC` shows them: help and documentation are one text.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns every page of a folder, in the order of their names: its topic, its title and its text for a terminal. */
export function readTopics(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map((file) => {
      const page = readFileSync(join(folder, file), "utf8");
      return { topic: file.slice(0, -".md".length), title: /^# (.+)$/m.exec(page)?.[1] ?? "", text: plainText(page) };
    });
}

/** Turns Markdown into what a terminal shows: commands indented and as they are, no comments, links as their words. */
function plainText(page) {
  return page
    .replace(/^<!--.*-->\n\n?/gm, "")
    .split(/^```\w*\n([^]*?)^```$/m)
    .map((part, n) => (n % 2 === 1 ? part.trimEnd().replace(/^(?=.)/gm, "    ") : plainProse(part)))
    .join("")
    .trimEnd();
}

function plainProse(text) {
  return text
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_, words, target) => `${words} (${whereOf(target)})`)
    .replace(/\*\*(.+?)\*\*/g, "$1")
    .replace(/^#+ (.+)$/gm, (_, title) => title.toUpperCase())
    .replace(/`([^`\n]+)`/g, "$1");
}

/** Says where a terminal finds what a page links to: another topic, or a file of the documentation. */
function whereOf(target) {
  const [path] = target.split("#");
  return path.startsWith("../") ? path.replace("../", "docs/") : `perdure help ${path.replace(/\.md$/, "")}`;
}
