// Makes one program of each verb, and one file of each module that a verb loads late: a verb reads what it uses and nothing else.
import { mkdtempSync, rmSync } from "node:fs";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

/** Builds the programs of all verbs with these options of esbuild; returns esbuild's metafiles, and what the help tells of each verb. */
export async function buildVerbPrograms(options) {
  const { verbs, groups } = await loadVerbs(options);
  const late = lateModules();
  const metafiles = [];
  const make = async (entryPoints) => {
    const plugins = [late.plugin, ...(options.plugins ?? [])];
    const { metafile } = await build({ ...options, entryPoints, plugins, metafile: true });
    metafiles.push(metafile);
  };
  await make([{ in: "src/cli.ts", out: "cli" }]);
  const program = verbProgram(verbs);
  late.plugin = both(late.plugin, program);
  await make(verbs.map(({ verb }) => ({ in: `verb:${verb}`, out: programName(verb) })));
  for (let files = late.take(); files.length > 0; files = late.take()) {
    await make(files.map((file) => ({ in: file, out: lateName(file) })));
  }
  return { metafiles, help: helpOf(verbs, groups) };
}

function programName(verb) {
  return verb === "" ? "bare" : `verb-${verb}`;
}

/** The source of a verb's program is three lines, which esbuild is given in place of a file. */
function verbProgram(verbs) {
  const sources = new Map(
    verbs.map(({ verb, file, name }) => [
      `verb:${verb}`,
      `import { runVerb } from "./src/commands/shared/verb/run-verb.ts";
import { ${name} as command } from "./${file}";
runVerb(${JSON.stringify(verb)}, command);`,
    ]),
  );
  return {
    name: "verb-program",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^verb:/ }, ({ path }) => ({ path, namespace: "verb" }));
      onLoad({ filter: /.*/, namespace: "verb" }, ({ path }) => ({
        contents: sources.get(path),
        resolveDir: process.cwd(),
        loader: "ts",
      }));
    },
  };
}

function both(...plugins) {
  return { name: "both", setup: (setup) => plugins.forEach((plugin) => plugin.setup(setup)) };
}

/** Turns `import("./x.ts")` into a file of its own, and remembers which files these are. */
function lateModules() {
  const found = new Set();
  let taken = new Set();
  return {
    plugin: {
      name: "late-modules",
      setup({ onResolve }) {
        onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
          if (kind !== "dynamic-import") return undefined;
          const file = relative(process.cwd(), resolve(resolveDir, path));
          found.add(file);
          return { path: `./${lateName(file)}.cjs`, external: true };
        });
      },
    },
    take() {
      const files = [...found].filter((file) => !taken.has(file));
      taken = new Set(found);
      return files;
    },
  };
}

function lateName(file) {
  return `late-${file
    .replace(/^src\/(commands\/)?/, "")
    .replace(/\.ts$/, "")
    .replaceAll("/", "-")}`;
}

/** Loads the table of verbs, finds of each the file and the export that it is, and the headings of the help. */
async function loadVerbs({ define, mainFields }) {
  const outdir = mkdtempSync(resolve("dist.verbs-"));
  try {
    const { metafile } = await build({
      entryPoints: ["src/commands/verbs.ts"],
      outdir,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      packages: "external",
      define: { PERDURE_VERSION: define.PERDURE_VERSION, PERDURE_DIST: '""' },
      mainFields,
      metafile: true,
    });
    const load = (output) => import(pathToFileURL(resolve(output)).href);
    const modules = await Promise.all(
      Object.entries(metafile.outputs)
        .filter(([, { entryPoint }]) => entryPoint !== undefined)
        .map(async ([output, { entryPoint }]) => ({ file: entryPoint, exports: await load(output) })),
    );
    const { HELP_GROUPS, VERBS } = modules.find(({ file }) => file === "src/commands/verbs.ts").exports;
    const verbs = await Promise.all(
      Object.entries(VERBS).map(async ([verb, loadVerb]) => {
        const command = await loadVerb();
        return { verb, command, ...placeOf(command, modules) };
      }),
    );
    return { verbs, groups: HELP_GROUPS };
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

function placeOf(command, modules) {
  for (const { file, exports } of modules) {
    const name = Object.keys(exports).find((key) => exports[key] === command);
    if (name !== undefined) return { file, name };
  }
  throw new Error(`no module exports the verb with the summary ${JSON.stringify(command.summary)}`);
}

/** Returns the data of every verb, without its code, under the headings of the help; throws for a verb that has none, or two. */
function helpOf(verbs, groups) {
  const listed = groups.flatMap((group) => group.verbs);
  for (const { verb } of verbs.filter((each) => each.verb !== "")) {
    const times = listed.filter((each) => each === verb).length;
    if (times !== 1) throw new Error(`${verb} is in HELP_GROUPS of src/commands/verbs.ts ${times} times`);
  }
  return {
    groups: groups.map(({ title, verbs: names }) => ({
      title,
      verbs: names.map((name) => {
        const { run: _run, aliases: _aliases, ...help } = verbs.find(({ verb }) => verb === name).command;
        return { verb: name, ...help };
      }),
    })),
  };
}
