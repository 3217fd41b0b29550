// Bundles the command line, the daemon and the library. Runs on any Node that npm runs on.
import { readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

rmSync("dist", { recursive: true, force: true });

// The command line and the daemon are CommonJS: Node's module loader for ESM costs 4 ms of a 25 ms start.
await build({
  entryPoints: { cli: "src/cli.ts", daemon: "src/daemon.ts" },
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  minifySyntax: true,
  legalComments: "none",
  define: { PERDURE_VERSION: JSON.stringify(version), PERDURE_DIST: "__dirname", "import.meta.dirname": "__dirname" },
  logLevel: "warning",
});
