import type { BuildOptions, Metafile } from "esbuild";
import type { HelpTable } from "../src/commands/shared/verb/help-page.ts";

export function buildVerbPrograms(options: BuildOptions): Promise<{ metafiles: Metafile[]; help: HelpTable }>;
