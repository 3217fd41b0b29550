import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { RUN_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import type { Environment } from "../../util/environment.ts";
import type { LaunchFile } from "../launch-plan.ts";
import { EVENT_PREFIX, WAKE_FILE } from "../shared/hook-script.ts";
import { FLAGS, FLAGS_MARK } from "./program.ts";

/** The file in which the extension names the conversation that it was started for. */
const READY_FILE = "wake.ready";

const EXTENSIONS = "EXTENSIONS";

/** The tools that copilot offers to its model along with extensions: to write some, and to draw. */
export const EXTENSION_TOOLS = [
  "extensions_manage",
  "extensions_reload",
  "list_canvas_capabilities",
  "open_canvas",
  "invoke_canvas_action",
];

/**
 * The extension stands beside copilot, and sends what it finds in the run's folder to the conversation it was started for. Copilot starts
 * it anew for every conversation. It offers nothing to the model, and never prints.
 */
export function wakeExtension(runDir: string): LaunchFile {
  const text = `import { readFileSync as read, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { joinSession } from "@github/copilot-sdk/extension";
process.chdir(${JSON.stringify(runDir)});
const session = await joinSession({});
const draft = ".${WAKE_FILE}." + process.pid;
function leave(name, text) {
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, name);
}
function take() {
  try {
    if (JSON.parse(read("${WAKE_FILE}", "utf8")).session !== session.sessionId) return null;
    renameSync("${WAKE_FILE}", draft);
    const { text } = JSON.parse(read(draft, "utf8"));
    rmSync(draft, { force: true });
    return text;
  } catch {
    return null;
  }
}
function look() {
  const text = take();
  if (typeof text === "string") session.send({ prompt: text }).catch(() => {});
}
watch(".", look);
leave("${READY_FILE}", session.sessionId);
// An event that says nothing: the daemon looks at what there is to deliver.
leave("${EVENT_PREFIX}" + process.pid + ".ready", JSON.stringify({ sessionId: session.sessionId }));
look();
`;
  return { name: "plugin/extensions/perdure/extension.mjs", text };
}

/** Tells whether the extension waits for texts to the conversation. */
export function isReady({ runDir, session }: { runDir: string; session: string }): boolean {
  return readIfReadable(join(runDir, READY_FILE), RUN_FILE_BYTES_MAX) === session;
}

/**
 * Returns the variables that let copilot start our extension; null where it would start somebody else's as well, which their owner did
 * not ask for.
 */
export function flagVariables(env: Environment, folders: ExtensionFolders): Record<string, string> | null {
  const own = userFlags(env);
  const flags = own.split(",").map((flag) => flag.trim());
  if (flags.includes(EXTENSIONS)) return {};
  if (hasExtensions(folders)) return null;
  return { [FLAGS]: [...flags.filter((flag) => flag !== ""), EXTENSIONS].join(","), [FLAGS_MARK]: own };
}

/** Returns the flags that the user has set, also to a process below a copilot that got more of them from us. */
export function userFlags(env: Environment): string {
  return env[FLAGS_MARK] ?? env[FLAGS] ?? "";
}

export interface ExtensionFolders {
  configDir: string;
  cwd: string;
  /** The plugin folders that the user has named. */
  plugins: readonly string[];
}

function hasExtensions({ configDir, cwd, plugins }: ExtensionFolders): boolean {
  const places = [configDir, ...plugins, ...foldersUpTo(cwd).map((folder) => join(folder, ".github"))];
  return places.some((place) => existsSync(join(place, "extensions"))) || hasPlugins(configDir);
}

/** A plugin that is installed may bring extensions from wherever it says. */
function hasPlugins(configDir: string): boolean {
  const folder = join(configDir, "installed-plugins");
  return existsSync(folder) && readdirSync(folder).length > 0;
}

function foldersUpTo(folder: string): string[] {
  const above = dirname(folder);
  return existsSync(join(folder, ".git")) || above === folder ? [folder] : [folder, ...foldersUpTo(above)];
}
