import type { ClaimGrant } from "../protocol/records/launch.ts";

/** The variable whose attributes a program's own telemetry carries, by the specification of OpenTelemetry: `key=value,key=value`. */
export const RESOURCE_ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES";

/** Returns a user's attributes with the worker and the run behind them; those of an outer run are replaced. */
export function attributesOfRun(
  users: string | undefined,
  { address, run }: Pick<ClaimGrant, "address" | "run">,
): string {
  const own = [`perdure.worker=${encoded(address)}`, `perdure.run=${encoded(run)}`];
  return [...pairsOf(users), ...own].join(",");
}

/** Returns the environment with only the attributes in it that are the user's. */
export function withoutRunAttributes(env: Readonly<Record<string, string>>): Record<string, string> {
  const { [RESOURCE_ATTRIBUTES]: value, ...others } = env;
  if (value === undefined || !OURS.test(value)) return env;
  const pairs = pairsOf(value);
  return pairs.length === 0 ? others : { ...others, [RESOURCE_ATTRIBUTES]: pairs.join(",") };
}

const OURS = /(?:^|,)\s*perdure\.(?:worker|run)\s*=/;

function pairsOf(value = ""): string[] {
  return value.split(",").filter((pair) => pair.trim() !== "" && !OURS.test(pair));
}

/** A slash needs no escape there, and stays readable. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll("%2F", "/");
}
