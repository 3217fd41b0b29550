import type { Tool } from "../tool.ts";
import { listTool, whoamiTool } from "./about.ts";
import { askTool } from "./ask.ts";
import { contextLogTool } from "./context-log.ts";
import { inboxTool, replyTool, sendTool } from "./mail.ts";

/** The tools, in the order in which agents see them. */
export const TOOLS: readonly Tool[] = [sendTool, askTool, replyTool, inboxTool, listTool, whoamiTool, contextLogTool];
