import { homedir } from "node:os";
import { join } from "node:path";

export type VendorName = "claude" | "codex" | "gemini" | "copilot" | "pi" | "qwen" | "opencode";

/** The version the facts were seen with, and where its program comes from. */
interface Pin {
  version: string;
  /** For npm. A vendor's package that only brings a native binary is asked for directly: half the download. */
  package: string;
  /** The program, from the folder of the install. */
  program: string;
  /** Runs on Node, which then lies beside it; the others are native and get no Node to lean on. */
  node?: boolean;
  /** The package has most of its dependencies in it: it is unpacked, not installed. The ones it lacks are named here. */
  unpacked?: string;
}

const host = `${process.platform}-${process.arch}`;
const machine = process.arch === "arm64" ? "aarch64" : "x86_64";

export const PINS: Readonly<Record<VendorName, Pin>> = {
  claude: {
    version: "2.1.325",
    package: `@anthropic-ai/claude-code-${host}@2.1.325`,
    program: `node_modules/@anthropic-ai/claude-code-${host}/claude`,
  },
  codex: {
    version: "0.166.0",
    package: `@openai/codex@0.166.0-${host}`,
    program: `node_modules/@openai/codex/vendor/${machine}-unknown-linux-musl/bin/codex`,
  },
  gemini: {
    version: "0.61.0",
    package: "@google/gemini-cli@0.61.0",
    program: "node_modules/@google/gemini-cli/bundle/gemini.js",
    node: true,
  },
  copilot: {
    version: "1.0.102",
    package: "@github/copilot@1.0.102",
    program: "node_modules/@github/copilot/npm-loader.js",
    node: true,
  },
  pi: {
    version: "1.5.0",
    package: "@earendil-works/pi-coding-agent@1.5.0",
    program: "package/dist/bundle/cli.js",
    node: true,
    unpacked: "jiti@2.7.0",
  },
  qwen: {
    version: "0.24.4",
    package: "@qwen-code/qwen-code@0.24.4",
    program: "node_modules/@qwen-code/qwen-code/cli-entry.js",
    node: true,
  },
  opencode: {
    version: "1.18.33",
    package: `opencode-${host}@1.18.33`,
    program: `node_modules/opencode-${host}/bin/opencode`,
  },
};

export const VENDOR_NAMES = Object.keys(PINS) as VendorName[];

/** The folder of the pinned programs: shared by all clones, filled by scripts/vendors.js. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "perdure-vendors");

/** The folder for PATH: the vendor's program under its own name, and the Node it needs, as after a real install. */
export function binFolder(name: VendorName): string {
  return join(CACHE, `${name}@${PINS[name].version}`, "bin");
}
