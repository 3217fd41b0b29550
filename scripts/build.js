// Bundles the command line, the daemon and the library. Runs on any Node that npm runs on.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

// Built aside and renamed into place: a command that starts meanwhile finds the old file or the new one.
const aside = `dist.${process.pid}.tmp`;

const nodeCheck = `{const[a,b]=process.versions.node.split(".").map(Number);if(a<24||(a===24&&b<15)){require("fs").writeSync(2,"perdure: Node "+process.versions.node+" is too old; perdure needs 24.15 or newer.\\n  → https://nodejs.org, or your version manager: install Node 24\\n");process.exit(7)}}`;

/** A module that is required from a file of its own when it is first needed (why: where it is required). */
const VERBS = { module: /\/verbs\.ts$/, kind: "dynamic-import", file: "./verbs.cjs" };
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

await build({
  ...COMMON_JS,
  entryPoints: {
    cli: "src/cli.ts",
    verbs: "src/commands/verbs.ts",
    daemon: "src/daemon.ts",
    scripted: "src/scripted.ts",
    "string-width": "string-width",
    "jsonc-parser": "jsonc-parser",
    "config-check": "src/project/config/check.ts",
    "toml-positions": "src/project/config/positions.ts",
  },
  plugins: [apart([VERBS, STRING_WIDTH, JSONC_PARSER, CONFIG_CHECK, TOML_POSITIONS])],
});

// The library is ESM: it is loaded once by a program that runs for long.
await build({
  entryPoints: { index: "src/index.ts" },
  outdir: aside,
  bundle: true,
  platform: "node",
  target: "node24",
  banner: {
    js: 'import{createRequire as perdureRequire}from"node:module";const require=perdureRequire(import.meta.url);',
  },
  plugins: [apart([CONFIG_CHECK, TOML_POSITIONS])],
  format: "esm",
  legalComments: "none",
  define: { PERDURE_VERSION: JSON.stringify(version), PERDURE_DIST: "import.meta.dirname" },
  logLevel: "warning",
});

mkdirSync("dist", { recursive: true });
for (const file of readdirSync(aside)) renameSync(`${aside}/${file}`, `dist/${file}`);
rmSync(aside, { recursive: true });

execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.types.json"], { stdio: "inherit" });
