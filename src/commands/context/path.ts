import { asSeenFrom } from "../../project/context-file.ts";
import type { Invocation } from "../shared/command.ts";
import { rawOutput } from "../shared/output.ts";
import { locateAnchor } from "./anchor-paths.ts";

/** Pure: the same environment and configuration give the same line, nothing is created, no daemon is asked. */
export async function contextPath({ values, out }: Invocation): Promise<void> {
  const { file, agentId } = locateAnchor(values);
  const path = values.absolute === true ? file : asSeenFrom(process.cwd(), file);
  out.result({ path, agentId: agentId ?? null }, () => rawOutput(path));
}
