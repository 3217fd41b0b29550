import type { HelpTable } from "../src/commands/shared/verb/help-page.ts";

export function manPage(help: HelpTable, version: string): string;
export function optionsReference(help: HelpTable): string;
export function withOptionsPart(page: string, part: string): string;
