// Bundles the command line, the daemon and the library. Runs on any Node that npm runs on.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build as bundle } from "esbuild";
import { manPage } from "./manual.js";
import { keepCode } from "./code-cache.js";
import { noticesOf } from "./notices.js";
import { readTopics } from "./topics.js";
import { buildVerbPrograms } from "./verb-programs.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

// Built aside and renamed into place: a command that starts meanwhile finds the old file or the new one.
const aside = `dist.${process.pid}.tmp`;

const bundled = new Set();

/** Bundles, and remembers which files went in. */
async function build(options) {
  const { metafile } = await bundle({ ...options, metafile: true });
  for (const file of Object.keys(metafile.inputs)) bundled.add(file);
}

const libraryNodeCheck = `{const[a,b]=process.versions.node.split(".").map(Number);if(a<24||(a===24&&b<15))throw Error("perdure's library needs Node 24.15 or newer; this is "+process.versions.node)}`;
const nodeCheck = `{const[a,b]=process.versions.node.split(".").map(Number);if(a<24||(a===24&&b<15)){require("fs").writeSync(2,"perdure: Node "+process.versions.node+" is too old; perdure needs 24.15 or newer.\\n  → https://nodejs.org, or your version manager: install Node 24\\n");process.exit(7)}}`;

/** A module that is required from a file of its own when it is first needed (why: where it is required). */
const TOML = { module: /^smol-toml$/, kind: "require-call", file: "./smol-toml.cjs" };
const STRING_WIDTH = { module: /^string-width$/, kind: "require-call", file: "./string-width.cjs" };
const JSONC_PARSER = { module: /^jsonc-parser$/, kind: "require-call", file: "./jsonc-parser.cjs" };
const CONFIG_CHECK = { module: /\/check\.ts$/, kind: "require-call", file: "./config-check.cjs" };
const TOML_POSITIONS = { module: /\/positions\.ts$/, kind: "require-call", file: "./toml-positions.cjs" };

function apart(modules) {
  return {
    name: "apart",
    setup({ onResolve }) {
      for (const { module, kind, file } of modules) {
        onResolve({ filter: module }, (found) => (found.kind === kind ? { path: file, external: true } : undefined));
      }
    },
  };
}

// The command line and the daemon are CommonJS: Node's module loader for ESM costs 4 ms of a 25 ms start.
const COMMON_JS = {
  supported: { "dynamic-import": false },
  outdir: aside,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  mainFields: ["module", "main"], // jsonc-parser's main hides its parts from a bundler
  // Older syntax, so that an older Node gets as far as the line that tells it so.
  target: "node18",
  banner: { js: nodeCheck },
  format: "cjs",
  minify: true,
  // Read by Node only with --enable-source-maps, which PERDURE_DEBUG brings: then a stack names the files of src.
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  define: {
    PERDURE_VERSION: JSON.stringify(version),
    PERDURE_DIST: "__dirname",
    "import.meta.dirname": "__dirname",
    "import.meta.filename": "__filename",
  },
  logLevel: "warning",
};

/**
 * Has the daemon load these modules of Node when it first uses them: each costs 1 to 2 MB, and a daemon with nothing to do uses none.
 * esbuild reads an imported name as a property of its module at each use. The other word is as long as the first: the source map
 * stays true.
 */
function loadLate(file) {
  const late = /\brequire(?=\("node:(?:child_process|crypto|fs\/promises|readline|timers\/promises)"\))/g;
  writeFileSync(file, readFileSync(file, "utf8").replace(late, "lateone"));
}

const LATE_PACKAGES = apart([TOML, STRING_WIDTH, JSONC_PARSER, CONFIG_CHECK, TOML_POSITIONS]);

await build({
  ...COMMON_JS,
  entryPoints: { perdured: "src/daemon.ts" },
  banner: { js: `${nodeCheck}const lateone=m=>new Proxy({},{get:(_,n)=>require(m)[n]});` },
  plugins: [LATE_PACKAGES],
});
loadLate(`${aside}/perdured.cjs`);

await build({
  ...COMMON_JS,
  entryPoints: {
    scripted: "src/scripted.ts",
    "smol-toml": "smol-toml",
    "string-width": "string-width",
    "jsonc-parser": "jsonc-parser",
    "config-check": "src/project/config/check.ts",
    "toml-positions": "src/project/config/positions.ts",
  },
  plugins: [LATE_PACKAGES],
});
const { help, metafiles } = await buildVerbPrograms({ ...COMMON_JS, plugins: [LATE_PACKAGES] });
for (const { inputs } of metafiles) for (const file of Object.keys(inputs)) bundled.add(file);
writeFileSync(`${aside}/help.json`, JSON.stringify(help));
writeFileSync(`${aside}/perdure.1`, manPage(help, version));

// The library is ESM: it is loaded once by a program that runs for long.
await build({
  entryPoints: { index: "src/index.ts" },
  outdir: aside,
  bundle: true,
  platform: "node",
  target: "node24",
  banner: {
    js: `import{createRequire as perdureRequire}from"node:module";const require=perdureRequire(import.meta.url);${libraryNodeCheck}`,
  },
  plugins: [apart([TOML, CONFIG_CHECK, TOML_POSITIONS])],
  format: "esm",
  legalComments: "none",
  define: { PERDURE_VERSION: JSON.stringify(version), PERDURE_DIST: "import.meta.dirname" },
  logLevel: "warning",
});

writeFileSync(`${aside}/topics.json`, JSON.stringify(readTopics("docs/guide")));
writeFileSync(`${aside}/NOTICES.txt`, noticesOf([...bundled]));

await keepCode(aside, resolve("node_modules/node/bin/node"));

mkdirSync("dist", { recursive: true });
for (const file of readdirSync(aside)) renameSync(`${aside}/${file}`, `dist/${file}`);
rmSync(aside, { recursive: true });

execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.types.json"], { stdio: "inherit" });
