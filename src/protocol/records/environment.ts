/**
 * How much of a caller's environment is recorded for a worker's later starts: `whole` is all that an operator has at a terminal,
 * `chosen` what such an operator wants recorded instead, and `known` the well-known variables of any other caller.
 */
export const ENVIRONMENT_SCOPES = ["whole", "chosen", "known"] as const;
export type EnvironmentScope = (typeof ENVIRONMENT_SCOPES)[number];

/** An environment as a call brings it, and as it is recorded. */
export interface GivenEnvironment {
  environment: Record<string, string>;
  scope: EnvironmentScope;
  /** The variables that the worker's entry of perdure.toml sets, which win over the others. */
  own: Record<string, string>;
}

/** A variable that the settings of a vendor's program name, and that a start does not have. */
export interface MissingVariable {
  name: string;
  /** The setting that names it, and its file. */
  namedBy: string;
}
