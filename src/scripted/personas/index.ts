import type { Layout } from "../persona.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { scripted } from "./scripted.ts";

/** Whose clothes it can wear. */
export const LAYOUTS: Readonly<Record<string, Layout>> = { scripted, claude, codex };
