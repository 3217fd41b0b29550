import type { CallName, CallParams, CallResults } from "../../protocol/calls/index.ts";
import { claimCall } from "./claim.ts";
import { adoptCall } from "./adopt.ts";
import { findAnchorOwnersCall } from "./anchors.ts";
import { bindConversationCall } from "./bind.ts";
import type { CallContext } from "./context.ts";
import { findConversationsCall } from "./conversations.ts";
import { drillCall } from "./drill.ts";
import { eventsCall } from "./events.ts";
import { forkCall } from "./fork.ts";
import { keepaliveCall } from "./keepalive.ts";
import { listMailCall, peekMailCall, pendingCall } from "./inbox.ts";
import { ackCall, takeMailCall } from "./receive.ts";
import { historyCall, lsCall, showCall } from "./list.ts";
import { askCall, replyCall, sendCall, cancelCall, showMailCall, pauseCall, redeliverCall } from "./mail.ts";
import { backupCall, checkStoreCall, statusCall, stopDaemonCall } from "./maintenance.ts";
import { metricsCall } from "./metrics.ts";
import { renameCall, retireCall } from "./rename.ts";
import { downCall } from "./down.ts";
import { restartCall } from "./restart.ts";
import { findPaneCall, openPaneCall, readScreenCall } from "./pane.ts";
import { trustCall, checkTrustCall } from "./trust.ts";
import { upCall } from "./up.ts";
import { showProjectCall, moveProjectCall, listProjectsCall } from "./projects.ts";
import { releaseCall } from "./release.ts";
import { restoreConversationCall } from "./restore-conversation.ts";
import { forgetCall, saveCall, savedCall } from "./saved.ts";
import { takeoverCall } from "./takeover.ts";
import { noticeFailuresCall, testNoticeCall } from "./notices.ts";
import { waitCall } from "./wait.ts";

type Handlers = { [N in CallName]: (params: CallParams<N>, context: CallContext) => Promise<CallResults[N]> };

/** The handlers, one for each call of the table; TypeScript ensures that none is missing. */
export const handlers: Handlers = {
  claim: claimCall,
  keepalive: keepaliveCall,
  release: releaseCall,
  bindConversation: bindConversationCall,
  adopt: adoptCall,
  restoreConversation: restoreConversationCall,
  fork: forkCall,
  findConversations: findConversationsCall,
  drill: drillCall,
  ls: lsCall,
  show: showCall,
  history: historyCall,
  wait: waitCall,
  testNotice: testNoticeCall,
  noticeFailures: noticeFailuresCall,
  rename: renameCall,
  retire: retireCall,
  takeover: takeoverCall,
  showProject: showProjectCall,
  listProjects: listProjectsCall,
  moveProject: moveProjectCall,
  trust: trustCall,
  checkTrust: checkTrustCall,
  up: upCall,
  down: downCall,
  restart: restartCall,
  findPane: findPaneCall,
  openPane: openPaneCall,
  readScreen: readScreenCall,
  save: saveCall,
  saved: savedCall,
  forget: forgetCall,
  send: sendCall,
  ask: askCall,
  reply: replyCall,
  takeMail: takeMailCall,
  ack: ackCall,
  peekMail: peekMailCall,
  listMail: listMailCall,
  pending: pendingCall,
  showMail: showMailCall,
  cancel: cancelCall,
  redeliver: redeliverCall,
  pause: pauseCall,
  events: eventsCall,
  findAnchorOwners: findAnchorOwnersCall,
  status: statusCall,
  metrics: metricsCall,
  checkStore: checkStoreCall,
  backup: backupCall,
  stopDaemon: stopDaemonCall,
};
