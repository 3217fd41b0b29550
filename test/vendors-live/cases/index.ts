import type { Case } from "../case.ts";
import { resumeAfterKill } from "./a-resume-after-kill.ts";
import { killedBeforeFirstAnswer } from "./b-killed-before-first-answer.ts";
import { threeInOneFolder } from "./c-three-in-one-folder.ts";
import { otherFolder } from "./d-other-folder.ts";
import { damagedTranscript } from "./e-damaged-transcript.ts";
import { secondStart } from "./f-second-start.ts";
import { unknownConversation } from "./g-unknown-conversation.ts";
import { argumentsSurvive } from "./h-arguments-survive.ts";
import { rotation } from "./i-rotation.ts";
import { nestedAgent } from "./j-nested-agent.ts";
import { configDir } from "./k-config-dir.ts";
import { recordedHistory } from "./l-history.ts";
import { argumentsGivenTwice } from "./m-arguments-given-twice.ts";
import { failedStart } from "./n-failed-start.ts";
import { provider } from "./o-provider.ts";
import { endedMidTurn } from "./p-ended-mid-turn.ts";
import { ownFolder } from "./q-own-folder.ts";
import { bothModes } from "./r-both-modes.ts";
import { foreignOpener } from "./u-foreign-opener.ts";
import { custody } from "./w-custody.ts";
import { attention } from "./y-attention.ts";
import { forkedConversation } from "./x-fork.ts";
import { turnBehindRotation } from "./v-turn-behind-rotation.ts";
import { resumedMinutesLater } from "./s-resumed-minutes-later.ts";
import { signalsEndAll } from "./t-signals-end-all.ts";
import { fleet } from "./z-fleet.ts";
import { headlessElsewhere } from "./ac-headless-elsewhere.ts";
import { recordingOff } from "./ad-recording-off.ts";
import { split } from "./af-split.ts";
import { noCopy } from "./ag-no-copy.ts";
import { nothingUnsaid } from "./ah-nothing-unsaid.ts";
import { trueState } from "./ai-true-state.ts";
import { failedTurn } from "./aj-failed-turn.ts";
import { argumentsChanged } from "./aa-arguments-changed.ts";
import { opensNothing } from "./ab-opens-nothing.ts";
import { movedRepository } from "./ae-moved-repository.ts";
import { refusedByVendor } from "./ak-refused-by-vendor.ts";
import { staleCopy } from "./al-stale-copy.ts";
import { interrupted } from "./am-interrupted.ts";
import { mailToStopped } from "./ba-mail-to-stopped.ts";
import { agentsTalk } from "./bc-agents-talk.ts";
import { mailWakes } from "./bb-mail-wakes.ts";
import { ownHooksKept } from "./bd-own-hooks-kept.ts";
import { hostileMail } from "./be-hostile-mail.ts";
import { leftAloneAtQuestion } from "./bf-left-alone-at-question.ts";
import { killedWhileWoken } from "./bg-killed-while-woken.ts";
import { mailUnderFire } from "./bq-mail-under-fire.ts";
import { mailBesideTyping } from "./br-mail-beside-typing.ts";
import { mailPasted } from "./bp-mail-pasted.ts";
import { typedWhileWoken } from "./bt-typed-while-woken.ts";
import { longMail } from "./bv-long-mail.ts";
import { longMailByTool } from "./cb-long-mail-by-tool.ts";
import { pastedHalfWay } from "./bu-pasted-half-way.ts";
import { toldWhenNeeded } from "./bw-told-when-needed.ts";
import { nestedGetsNone } from "./bh-nested-gets-none.ts";
import { strangerHeld } from "./bs-stranger-held.ts";
import { ownServerKept, ownServerOfOurName } from "./bi-own-server-kept.ts";
import { changedInside } from "./bn-changed-inside.ts";
import { personInFront } from "./bk-person-in-front.ts";
import { notAWorker } from "./bl-not-a-worker.ts";
import { conversationName } from "./bm-conversation-name.ts";
import { secondProcess } from "./an-second-process.ts";
import { unwritable } from "./ao-unwritable.ts";
import { environmentArrives } from "./bx-environment-arrives.ts";
import { rewound } from "./ap-rewound.ts";
import { gap } from "./ar-gap.ts";
import { fullDisk } from "./as-full-disk.ts";
import { cutWhileItRuns } from "./aq-cut-while-it-runs.ts";
import { firstFleet } from "./ca-first-fleet.ts";
import { turnsSurvive } from "./da-turns-survive.ts";
import { turnIsData } from "./db-turn-is-data.ts";
import { turnFinalWords } from "./dc-turn-final-words.ts";
import { turnOnHold, turnOverLimit } from "./dd-turn-on-hold.ts";
import { answerBeforeEnd } from "./df-answer-before-end.ts";
import { turnBesideBare } from "./dg-turn-beside-bare.ts";
import { sessionsInTurns } from "./dh-sessions-in-turns.ts";
import { pinnedName } from "./cc-pinned-name.ts";
import { tasksByMail } from "./cd-tasks-by-mail.ts";

export const CASES: readonly Case[] = [
  resumeAfterKill,
  killedBeforeFirstAnswer,
  threeInOneFolder,
  otherFolder,
  damagedTranscript,
  secondStart,
  unknownConversation,
  argumentsSurvive,
  rotation,
  nestedAgent,
  configDir,
  recordedHistory,
  argumentsGivenTwice,
  failedStart,
  provider,
  endedMidTurn,
  ownFolder,
  bothModes,
  resumedMinutesLater,
  signalsEndAll,
  foreignOpener,
  turnBehindRotation,
  custody,
  forkedConversation,
  attention,
  fleet,
  headlessElsewhere,
  recordingOff,
  split,
  noCopy,
  nothingUnsaid,
  trueState,
  failedTurn,
  argumentsChanged,
  opensNothing,
  movedRepository,
  refusedByVendor,
  staleCopy,
  interrupted,
  mailToStopped,
  mailWakes,
  ownHooksKept,
  hostileMail,
  leftAloneAtQuestion,
  killedWhileWoken,
  mailUnderFire,
  mailBesideTyping,
  mailPasted,
  pastedHalfWay,
  longMail,
  longMailByTool,
  typedWhileWoken,
  toldWhenNeeded,
  nestedGetsNone,
  strangerHeld,
  ownServerKept,
  ownServerOfOurName,
  changedInside,
  agentsTalk,
  personInFront,
  notAWorker,
  conversationName,
  secondProcess,
  unwritable,
  rewound,
  gap,
  fullDisk,
  cutWhileItRuns,
  firstFleet,
  pinnedName,
  tasksByMail,
  environmentArrives,
  turnsSurvive,
  turnIsData,
  turnFinalWords,
  turnOnHold,
  turnOverLimit,
  answerBeforeEnd,
  turnBesideBare,
  sessionsInTurns,
];
