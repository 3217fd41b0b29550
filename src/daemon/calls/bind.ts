import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { bindMinted } from "../launch/bind.ts";
import type { CallContext } from "./context.ts";

export function bindCall(params: CallParams<"bind">, { services }: CallContext): Promise<CallResults["bind"]> {
  return bindMinted(services, params);
}
