import type { AnyCampaign } from "../support/campaign.ts";
import { ackedIsKept } from "./01-acked-is-kept.ts";
import { atLeastOnce } from "./03-at-least-once.ts";
import { order } from "./04-order.ts";
import { oneOwner } from "./05-one-owner.ts";
import { zombie } from "./06-zombie.ts";
import { clockJumps } from "./07-clock-jumps.ts";
import { rightProcess } from "./14-right-process.ts";
import { hostileNames } from "./16-hostile-names.ts";
import { unforgeable } from "./18-unforgeable.ts";
import { otherUsers } from "./19-other-users.ts";
import { oneDaemon } from "./20-one-daemon.ts";
import { upgrade } from "./21-upgrade.ts";
import { safeOutput } from "./22-safe-output.ts";
import { exactResume } from "./23-exact-resume.ts";

/** In the order of the promises. */
export const CAMPAIGNS: readonly AnyCampaign[] = [
  ackedIsKept,
  atLeastOnce,
  order,
  oneOwner,
  zombie,
  clockJumps,
  rightProcess,
  hostileNames,
  unforgeable,
  otherUsers,
  oneDaemon,
  upgrade,
  safeOutput,
  exactResume,
];
