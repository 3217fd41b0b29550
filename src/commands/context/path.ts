import { asSeenFrom } from "../../project/anchor.ts";
import type { Invocation } from "../command.ts";
import { exact } from "../output.ts";
import { anchorPlace } from "./place.ts";

/** Pure: the same environment and configuration give the same line, nothing is created, no daemon is asked. */
export async function contextPath({ values, out }: Invocation): Promise<void> {
  const { file, agentId } = anchorPlace(values);
  const path = values.absolute === true ? file : asSeenFrom(process.cwd(), file);
  out.result({ path, agentId: agentId ?? null }, () => exact(path));
}
