import { basename, join } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import { entriesOf } from "../shared/find-file.ts";
import type { FileRelocation, Placement, PlaceRequest, VendorIndex } from "../shared/relocation.ts";

/**
 * Gemini gives each folder a short name, and keeps the folder's conversations under it. It finds the name in its list of
 * projects, else by a file that names the folder: so the list, which is the user's, need not be edited.
 */
export const geminiRelocation: FileRelocation = { kind: "file", readIndex, place };

const LIST = ".gemini/projects.json";
const PLACES = [".gemini/tmp", ".gemini/history"] as const;
const OWNER = ".project_root";

async function readIndex(configDir: string): Promise<VendorIndex> {
  const named = PLACES.map(async (above) =>
    (await entriesOf(join(configDir, above))).map((name) => `${above}/${name}/${OWNER}`),
  );
  const paths = [LIST, ...(await Promise.all(named)).flat()];
  const texts = paths.map((path) => [path, readIfReadable(join(configDir, path), VENDOR_FILE_BYTES_MAX)] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}

function place({ path, firstLine, folder, index }: PlaceRequest): Placement {
  const present = path.split("/").at(-3) ?? "";
  if (index[`${PLACES[0]}/${present}/${OWNER}`]?.trim() === folder) return { path, firstLine, files: [] };
  const name = nameOf(folder, index);
  return {
    path: `${PLACES[0]}/${name}/chats/${basename(path)}`,
    firstLine,
    files: [{ path: `${PLACES[0]}/${name}/${OWNER}`, text: folder }],
  };
}

/** Returns the name that gemini has given to the folder, or would give to it now. */
function nameOf(folder: string, index: VendorIndex): string {
  const list = fieldsOf(parseObject(index[LIST] ?? "")?.projects);
  const listed = textOf(list[folder]);
  if (listed !== null && ownersOf(listed, index).every((owner) => owner === folder)) return listed;
  const owned = Object.entries(index).find(([path, text]) => basename(path) === OWNER && text.trim() === folder)?.[0];
  if (owned !== undefined) return owned.split("/").at(-2) ?? "";
  const taken = new Set(Object.values(list));
  const base = slugOf(basename(folder));
  for (let n = 0; ; n++) {
    const name = n === 0 ? base : `${base}-${n}`;
    if (!taken.has(name) && ownersOf(name, index).length === 0) return name;
  }
}

function ownersOf(name: string, index: VendorIndex): string[] {
  return PLACES.flatMap((above) => index[`${above}/${name}/${OWNER}`]?.trim() ?? []);
}

function slugOf(text: string): string {
  const slug = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return slug.replaceAll(/^-|-$/g, "") || "project";
}
