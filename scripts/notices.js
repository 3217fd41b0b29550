// The licences of what is bundled, for the package that people install: each of them asks to come along.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the text of the notices for the packages to which these bundled files belong; a package without a licence file is an error. */
export function noticesOf(files) {
  const folders = [...new Set(files.map(packageFolder).filter((folder) => folder !== null))].sort();
  const head = "perdure's programs contain the packages below, each under its own licence.\n";
  return [head, ...folders.map(noticeOf)].join(`\n${"-".repeat(80)}\n\n`);
}

/** The innermost package of a file, as a path from the checkout; null for a file of our own. */
function packageFolder(file) {
  const found = /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
  return found === null ? null : found[1];
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
  if (file === undefined) throw new Error(`${name}@${version} is bundled, but ${folder} has no licence file`);
  const notice = ["NOTICE", "NOTICE.md", "NOTICE.txt"].find((each) => existsSync(join(folder, each)));
  const texts = [file, ...(notice === undefined ? [] : [notice])].map((each) =>
    readFileSync(join(folder, each), "utf8"),
  );
  return `${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join("\n\n")}\n`;
}
