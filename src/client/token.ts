import { variableOf, type Environment } from "../util/environment.ts";

/** Returns the token in the environment if this socket's daemon issued it; the daemon of another state folder would not know it. */
export function tokenFor(env: Environment, socket: string): string | null {
  return env.PERDURE_SOCKET === socket ? variableOf(env, "PERDURE_TOKEN") : null;
}
