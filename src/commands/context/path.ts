import { relativeTo } from "../../project/context-file.ts";
import type { Invocation } from "../shared/command.ts";
import { exact } from "../shared/output.ts";
import { anchorPlace } from "./anchor-paths.ts";

/** Pure: the same environment and configuration give the same line, nothing is created, no daemon is asked. */
export async function contextPath({ values, out }: Invocation): Promise<void> {
  const { file, agentId } = anchorPlace(values);
  const path = values.absolute === true ? file : relativeTo(process.cwd(), file);
  out.result({ path, agentId: agentId ?? null }, () => exact(path));
}
