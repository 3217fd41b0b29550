/** The version of the wire contract. It is raised when an older peer could misunderstand; a mismatch is answered with a sentence. */
export const PROTOCOL_VERSION = 4;

/** The package's version; esbuild replaces it when bundling, tests run it as is. */
declare const PERDURE_VERSION: string | undefined;
export const VERSION = typeof PERDURE_VERSION === "string" ? PERDURE_VERSION : "0.0.0-source";
