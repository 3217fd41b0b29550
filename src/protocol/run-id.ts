import { HOST_CHARS_MAX } from "../limits/index.ts";

export interface RunIdParts {
  host: string;
  project: string;
  worker: string;
  epoch: number;
}

/** A run id is `host.project.worker.epoch`: it always splits into four, because no part can contain a dot. */
export function formatRunId(parts: RunIdParts): string {
  return [slugHost(parts.host), slugPart(parts.project), slugPart(parts.worker), parts.epoch].join(".");
}

export function parseRunId(id: string): RunIdParts | null {
  const match = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([0-9]{1,15})$/.exec(id);
  if (!match) return null;
  const [, host = "", project = "", worker = "", epoch = ""] = match;
  return { host, project, worker, epoch: Number(epoch) };
}

/** Tells whether a run can be one of a worker of this name, in a project of this slug; true for an id in another form, of which nothing is known. */
export function canBeRunOf(id: string, project: string, worker: string): boolean {
  const parts = parseRunId(id);
  return parts === null || (isSame(parts.project, project) && isSame(parts.worker, worker));
}

function isSame(part: string, text: string): boolean {
  return part.toLowerCase() === slugPart(text).toLowerCase();
}

/** The key under which epochs are counted: `coder.1` and `coder-1` would have the same run ids, so they share one. */
export function epochKey(host: string, project: string, worker: string): string {
  return [slugHost(host), slugPart(project), slugPart(worker)].join(".").toLowerCase();
}

function slugPart(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "-") || "-";
}

/** The first label of the host name: `velox.local` and `velox` are the same machine to its owner. */
function slugHost(host: string): string {
  return slugPart((host.split(".")[0] ?? "").slice(0, HOST_CHARS_MAX) || "host");
}
