import { house } from "./001-house.ts";

/** In order; the schema's version is how many of them a store has. */
export const MIGRATIONS: readonly string[] = [house];
