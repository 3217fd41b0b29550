import type { CallName, CallParams, CallResults } from "../../protocol/calls/index.ts";
import { claimCall } from "./lease/claim.ts";
import { adoptCall } from "./conversations/adopt.ts";
import { findAnchorOwnersCall } from "./admin/anchors.ts";
import { bindConversationCall } from "./conversations/bind.ts";
import type { CallContext } from "./context.ts";
import { findConversationsCall } from "./conversations/find.ts";
import { drillCall } from "./conversations/drill.ts";
import { eventsCall } from "./admin/events.ts";
import { forkCall } from "./conversations/fork.ts";
import { keepaliveCall } from "./lease/keepalive.ts";
import { listMailCall, peekMailCall, pendingCall } from "./mail/inbox.ts";
import { ackCall, takeMailCall } from "./mail/receive.ts";
import { historyCall, lsCall, showCall } from "./names/list.ts";
import { askCall, replyCall, sendCall, cancelCall, showMailCall, pauseCall, redeliverCall } from "./mail/mail.ts";
import { backupCall, checkStoreCall, statusCall, stopDaemonCall } from "./admin/maintenance.ts";
import { metricsCall } from "./admin/metrics.ts";
import { renameCall, retireCall } from "./names/rename.ts";
import { downCall } from "./fleet/down.ts";
import { restartCall } from "./fleet/restart.ts";
import { findPaneCall, openPaneCall, readScreenCall } from "./fleet/pane.ts";
import { trustCall, checkTrustCall } from "./fleet/trust.ts";
import { upCall } from "./fleet/up.ts";
import { showProjectCall, moveProjectCall, listProjectsCall } from "./names/projects.ts";
import { releaseCall } from "./lease/release.ts";
import { restoreConversationCall } from "./conversations/restore.ts";
import { forgetCall, saveCall, savedCall } from "./fleet/saved.ts";
import { takeoverCall } from "./names/takeover.ts";
import { noticeFailuresCall, testNoticeCall } from "./admin/notices.ts";
import { waitCall } from "./names/wait.ts";

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
