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
];
