import type { VendorName } from "../pins.ts";
import type { Vendor } from "../vendor.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwen } from "./qwen.ts";

export const VENDORS: Readonly<Record<VendorName, Vendor>> = { claude, codex, gemini, copilot, pi, qwen, opencode };
