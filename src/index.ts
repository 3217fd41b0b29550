// The public library: names that outlive a process, for this program or for programs it starts.
export { connect, Perdure } from "./library/perdure.ts";
export type { AdoptOptions, ClaimOptions, PerdureOptions } from "./library/perdure.ts";
export { bounds } from "./library/bounds.ts";
export type { Context } from "./library/context.ts";
export type { EventOptions } from "./library/events.ts";
export type { BroughtUp, FleetOptions, ResumeOptions, StoppingOptions } from "./library/fleet.ts";
export { Lease } from "./library/lease.ts";
export type { AskOptions, ReceivedMessage, ReplyOptions, SendOptions } from "./library/mailbox.ts";
export { TurnServer } from "./library/turns.ts";
export type { TurnHandler, TurnMessage } from "./library/turns.ts";
export type { Identity } from "./library/surroundings.ts";
export type { StartedWorker, StartOptions } from "./library/program.ts";
export type { RunEnd } from "./library/runs.ts";
export { PerdureError } from "./protocol/errors.ts";
export type { ErrorCode } from "./protocol/errors.ts";
export type { Hint, HintCommand } from "./protocol/hint.ts";
export type { DrillResult, SessionRecord } from "./protocol/records/conversation.ts";
export type { DownItem, SavedRecord, UpItem } from "./protocol/records/fleet.ts";
export type {
  Admitted,
  AskProgress,
  Attachment,
  MailOutlook,
  MailState,
  MessageRecord,
} from "./protocol/records/mail.ts";
export type { EventRecord } from "./protocol/records/admin.ts";
export type { RunRecord, TakeoverResult } from "./protocol/records/run.ts";
export type { WorkerState, WorkerSummary } from "./protocol/records/worker.ts";
