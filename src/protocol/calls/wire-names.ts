import { own } from "../../util/own.ts";
import type { CallName } from "./index.ts";

// This file is apart from the table of calls, because clients need these names and must not load the validator.

/**
 * The names on the wire of calls that were renamed. Clients still send them, and the daemon takes both: so a client and a daemon
 * of which only one is older understand each other, and a program with an old library inside keeps its leases over an upgrade.
 * None of these words may become the name of another call before PROTOCOL_VERSION rises; then the table can go.
 */
export const WIRE_NAMES = {
  keepalive: "hold",
  bindConversation: "bind",
  restoreConversation: "restore",
  findConversations: "conversations",
  showProject: "project",
  listProjects: "projects",
  moveProject: "project.move",
  checkTrust: "trusted",
  findPane: "pane",
  readScreen: "screen",
  takeMail: "receive",
  peekMail: "inbox",
  showMail: "mail",
  findAnchorOwners: "anchors",
  checkStore: "check",
  stopDaemon: "stop",
} as const satisfies Partial<Record<CallName, string>>;

/** The word that a client sends for a call. */
export function wireNameOf(call: CallName): string {
  return own<string>(WIRE_NAMES, call) ?? call;
}
