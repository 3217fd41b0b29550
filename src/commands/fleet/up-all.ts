import { findProjectIfThere, type FoundProject } from "../../project/find.ts";
import { readFleet, type Fleet } from "../../project/fleet/read.ts";
import { exitCodeOf, isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { ProjectSummary } from "../../protocol/records/admin.ts";
import type { UpItem, UpResult } from "../../protocol/records/fleet.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { callDaemon, listFromDaemon } from "../shared/call.ts";
import type { Invocation } from "../shared/command.ts";
import { trustedContent } from "../shared/launch/trusted-content.ts";
import { projectRefHere } from "../shared/here.ts";
import { printable, type Output } from "../shared/output.ts";
import { bringUpWorkers } from "./bring-up.ts";

/** The fleet of one project, or why it was left alone. */
interface ProjectUp {
  project: string;
  root: string;
  workers: UpItem[];
  result: UpResult | null;
  refused: string | null;
}

/** Brings up the fleets of every project. Nothing is asked: a fleet file that is not trusted as it is stays as it is. */
export async function upEverywhere(
  words: readonly string[],
  values: Invocation["values"],
  rest: readonly string[] | null,
  out: Output,
): Promise<number> {
  const others = ["session", "resume", "allow-fresh", "fresh", "vendor"].filter((name) => values[name] !== undefined);
  if (words.length > 0 || rest !== null || others.length > 0) {
    throw new PerdureError("usage", "up: --all takes no names and no other options.", { hint: "perdure up --all" });
  }
  const { items } = await listFromDaemon("listProjects", {});
  const projects: ProjectUp[] = [];
  for (const project of items) {
    const up = await upProject(project, out);
    if (up === null) continue;
    projects.push(up);
    if (up.refused !== null) out.note(`  ${out.paint.red("✗")} ${printable(up.refused)}`);
  }
  const started = total(projects, ({ result }) => result?.started ?? 0);
  const running = total(projects, ({ result }) => result?.running ?? 0);
  const refused = total(projects, ({ result, refused: why }) => (why === null ? (result?.refused ?? 0) : 1));
  out.result({ projects, started, running, refused }, () => {
    const failed = refused === 0 ? "" : out.paint.red(`, ${refused} refused`);
    return `${started + running} up in ${projects.length} project${projects.length === 1 ? "" : "s"}, ${started} started, ${running} already running${failed}`;
  });
  return refused > 0 ? exitCodeOf("refused") : 0;
}

/** Brings up one project; null for one without a fleet file, or whose folder is gone. */
async function upProject({ slug, root, identity }: ProjectSummary, out: Output): Promise<ProjectUp | null> {
  const found = findProjectIfThere(root);
  if (found === null || found.identity !== identity) return null;
  const none = { project: slug, root, workers: [], result: null, refused: null };
  try {
    const fleet = readFleet(found, slug);
    if (fleet === null) return null;
    out.note(`${out.paint.bold(slug)}  ${out.paint.dim(printable(root))}`);
    return await upTrusted(found, fleet, none, out);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return { ...none, refused: error.message };
  }
}

async function upTrusted(found: FoundProject, fleet: Fleet, none: ProjectUp, out: Output): Promise<ProjectUp> {
  const here = projectRefHere(found);
  const { trusted } = await callDaemon("checkTrust", { here, ...trustedContent(fleet) });
  if (!trusted) {
    const command = `${shellWords(["cd", none.root])} && perdure up`;
    return { ...none, refused: `its perdure.toml is not trusted as it is now: ${command}` };
  }
  const options = { session: null, resume: null, allowFresh: [], fresh: false };
  const { items, result } = await bringUpWorkers({ fleet, here, workers: fleet.workers, ...options }, out);
  return { ...none, workers: items, result };
}

function total(projects: readonly ProjectUp[], count: (project: ProjectUp) => number): number {
  return projects.reduce((sum, project) => sum + count(project), 0);
}
