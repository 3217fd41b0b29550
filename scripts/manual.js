// Writes what the commands say of themselves as a man page, and as the options part of docs/reference.md.
import { readFileSync, writeFileSync } from "node:fs";

/** Returns the man page of perdure, from what the help tells of each verb. */
export function manPage({ groups }, version) {
  return [
    `.TH PERDURE 1 "" "perdure ${version}" "User Commands"`,
    ".SH NAME",
    "perdure \\- coding agents that come back, each under its name, in its conversation",
    ".SH SYNOPSIS",
    ".B perdure",
    ".br",
    ".B perdure",
    ".I VERB",
    "[arguments] [options]",
    ".SH DESCRIPTION",
    roff(
      "Alone it shows where you are and what needs you. Every verb takes --json, and --help. NO_COLOR is respected.",
    ),
    ...groups.flatMap(({ title, verbs }) => [`.SH ${roff(title.toUpperCase())}`, ...verbs.flatMap(verbSection)]),
    ".SH ENVIRONMENT",
    ".TP",
    ".B PERDURE_HOME",
    "the state folder; else $XDG_STATE_HOME/perdure, else ~/.local/state/perdure",
    "",
  ].join("\n");
}

function verbSection({ verb, usage, summary, details, subcommands = {}, options = {}, examples }) {
  return [
    `.SS ${roff(`perdure ${verb} ${usage}`.trimEnd())}`,
    roff(`${sentence(summary)}`),
    ...(details === undefined ? [] : paragraphs(details).flatMap((text) => [".PP", roff(text)])),
    ...Object.entries(subcommands).flatMap(([form, about]) => [".TP", `.B ${roff(form)}`, roff(about)]),
    ...Object.entries(options).flatMap(([name, option]) => [
      ".TP",
      optionForm(name, option),
      roff(aboutOption(option)),
    ]),
    ".PP",
    "Examples:",
    ".PP",
    ".nf",
    ".RS",
    ...examples.map((example) => roff(example)),
    ".RE",
    ".fi",
  ];
}

function optionForm(name, { short, value }) {
  const letter = short === undefined ? "" : `\\fB\\-${short}\\fR, `;
  return `${letter}\\fB${roff(`--${name}`)}\\fR${value === undefined ? "" : ` \\fI${roff(value)}\\fR`}`;
}

/** Escapes what roff would take for its own: backslashes, dashes that must stay dashes, and a dot or a quote that begins a line. */
function roff(text) {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("`", "\\(ga")
    .replaceAll(/[^\n -~]/gu, (char) => `\\[u${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`)
    .replaceAll(/^(?=[.'])/gm, "\\&");
}

/** Returns the options of every verb as Markdown, for docs/reference.md. */
export function optionsReference({ groups }) {
  return groups.flatMap(({ title, verbs }) => [`### ${title}`, ...verbs.map(verbEntry)]).join("\n\n");
}

function verbEntry({ verb, usage, summary, subcommands = {}, options = {} }) {
  const rows = [
    ...Object.entries(subcommands).map(([form, about]) => [form, about]),
    ...Object.entries(options).map(([name, option]) => {
      const { short, value } = option;
      const form = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
      return [form, aboutOption(option)];
    }),
  ];
  const head = `**\`${`perdure ${verb} ${usage}`.trimEnd()}\`**: ${summary}.`;
  if (rows.length === 0) return head;
  return [
    head,
    "",
    "| | |",
    "|---|---|",
    ...rows.map(([form, about]) => `| \`${cell(form)}\` | ${cell(about)} |`),
  ].join("\n");
}

function cell(text) {
  return text.replaceAll("|", "\\|");
}

function aboutOption({ about, multiple }) {
  return multiple ? `${about}; can be repeated` : about;
}

function paragraphs(text) {
  return text.split("\n\n").map((each) => each.replaceAll("\n", " "));
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

const [BEGIN, END] = ["<!-- made by npm run reference: begin -->", "<!-- made by npm run reference: end -->"];

/** Returns the page with the part between the two marks replaced. */
export function withOptionsPart(page, part) {
  const [before, rest = ""] = page.split(BEGIN);
  const after = rest.split(END)[1];
  if (after === undefined) throw new Error("docs/reference.md has lost the marks around its options part");
  return `${before}${BEGIN}\n\n${part}\n\n${END}${after}`;
}

if (import.meta.filename === process.argv[1]) {
  const page = new URL("../docs/reference.md", import.meta.url);
  const help = JSON.parse(readFileSync(new URL("../dist/help.json", import.meta.url), "utf8"));
  writeFileSync(page, withOptionsPart(readFileSync(page, "utf8"), optionsReference(help)));
}
