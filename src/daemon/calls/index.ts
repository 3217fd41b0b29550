import type { CallName, CallParams, CallResults } from "../../protocol/calls/index.ts";
import { adoptCall } from "./adopt.ts";
import { anchorsCall } from "./anchors.ts";
import { askCall } from "./ask.ts";
import { bindCall } from "./bind.ts";
import { claimCall } from "./claim.ts";
import type { CallContext } from "./context.ts";
import { conversationsCall } from "./conversations.ts";
import { drillCall } from "./drill.ts";
import { eventsCall } from "./events.ts";
import { forkCall } from "./fork.ts";
import { holdCall } from "./hold.ts";
import { inboxCall, pendingCall } from "./inbox.ts";
import { ackCall, receiveCall } from "./receive.ts";
import { historyCall, lsCall, showCall } from "./list.ts";
import { cancelCall, mailCall, pauseCall, redeliverCall } from "./mail.ts";
import { backupCall, checkCall, statusCall, stopCall } from "./maintenance.ts";
import { renameCall, retireCall } from "./rename.ts";
import { downCall } from "./down.ts";
import { paneCall, restartCall, screenCall } from "./pane.ts";
import { trustCall, trustedCall } from "./trust.ts";
import { upCall } from "./up.ts";
import { projectCall, projectMoveCall, projectsCall } from "./projects.ts";
import { releaseCall } from "./release.ts";
import { replyCall } from "./reply.ts";
import { restoreCall } from "./restore.ts";
import { forgetCall, saveCall, savedCall } from "./saved.ts";
import { sendCall } from "./send.ts";
import { takeoverCall } from "./takeover.ts";

type Handlers = { [N in CallName]: (params: CallParams<N>, context: CallContext) => Promise<CallResults[N]> };

export const handlers: Handlers = {
  claim: claimCall,
  bind: bindCall,
  adopt: adoptCall,
  restore: restoreCall,
  fork: forkCall,
  conversations: conversationsCall,
  save: saveCall,
  saved: savedCall,
  forget: forgetCall,
  drill: drillCall,
  send: sendCall,
  ask: askCall,
  reply: replyCall,
  receive: receiveCall,
  ack: ackCall,
  inbox: inboxCall,
  pending: pendingCall,
  mail: mailCall,
  cancel: cancelCall,
  redeliver: redeliverCall,
  pause: pauseCall,
  trust: trustCall,
  trusted: trustedCall,
  up: upCall,
  down: downCall,
  restart: restartCall,
  pane: paneCall,
  screen: screenCall,
  release: releaseCall,
  hold: holdCall,
  ls: lsCall,
  show: showCall,
  history: historyCall,
  rename: renameCall,
  retire: retireCall,
  takeover: takeoverCall,
  project: projectCall,
  projects: projectsCall,
  "project.move": projectMoveCall,
  events: eventsCall,
  anchors: anchorsCall,
  status: statusCall,
  check: checkCall,
  backup: backupCall,
  stop: stopCall,
};
