import type { Case } from "../case.ts";
import { killed } from "./a-killed.ts";
import { beforeTheFirst } from "./b-before-the-first.ts";
import { three } from "./c-three.ts";
import { elsewhere } from "./d-elsewhere.ts";
import { damage } from "./e-damage.ts";
import { second } from "./f-second.ts";
import { unknown } from "./g-unknown.ts";
import { keptArguments } from "./h-arguments.ts";
import { renewed } from "./i-renewed.ts";
import { nested } from "./j-nested.ts";
import { configDir } from "./k-config-dir.ts";
import { told } from "./l-history.ts";
import { oursToo } from "./m-ours-too.ts";
import { failedStart } from "./n-failed-start.ts";
import { provider } from "./o-provider.ts";
import { ends } from "./p-ends.ts";
import { ownFolder } from "./q-own-folder.ts";
import { bothModes } from "./r-both-modes.ts";
import { stranger } from "./u-stranger.ts";
import { custody } from "./w-custody.ts";
import { attention } from "./y-attention.ts";
import { branch } from "./x-branch.ts";
import { behind } from "./v-behind.ts";
import { laterMinutes } from "./s-later-minutes.ts";
import { endedWhole } from "./t-ended-whole.ts";
import { fleet } from "./z-fleet.ts";

export const CASES: readonly Case[] = [
  killed,
  beforeTheFirst,
  three,
  elsewhere,
  damage,
  second,
  unknown,
  keptArguments,
  renewed,
  nested,
  configDir,
  told,
  oursToo,
  failedStart,
  provider,
  ends,
  ownFolder,
  bothModes,
  laterMinutes,
  endedWhole,
  stranger,
  behind,
  custody,
  branch,
  attention,
  fleet,
];
