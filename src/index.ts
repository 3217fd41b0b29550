// The public library: names that outlive a process, for this program or for programs it starts.
export { connect, Perdure } from "./library/perdure.ts";
export type { ClaimOptions, PerdureOptions, RunEnd, StartedWorker, StartOptions } from "./library/perdure.ts";
export type { EventOptions } from "./library/events.ts";
export { Lease } from "./library/lease.ts";
export type { AskOptions, ReceivedMessage, SendOptions } from "./library/mailbox.ts";
export { TurnServer } from "./library/turns.ts";
export type { TurnHandler, TurnMessage } from "./library/turns.ts";
export { PerdureError } from "./protocol/errors.ts";
export type { ErrorCode } from "./protocol/errors.ts";
export type { Hint, HintCommand } from "./protocol/hint.ts";
export type {
  Admitted,
  AskProgress,
  Attachment,
  MailOutlook,
  MailState,
  MessageRecord,
} from "./protocol/records/mail.ts";
export type { EventRecord } from "./protocol/records/admin.ts";
export type { RunRecord } from "./protocol/records/run.ts";
export type { WorkerState, WorkerSummary } from "./protocol/records/worker.ts";
