import type { AnyCampaign } from "../support/campaign.ts";
import { ackedIsKept } from "./01-acked-is-kept.ts";
import { syncBeforeAck } from "./02-sync-before-ack.ts";
import { atLeastOnce } from "./03-at-least-once.ts";
import { order } from "./04-order.ts";
import { oneOwner } from "./05-one-owner.ts";
import { zombie } from "./06-zombie.ts";
import { clockJumps } from "./07-clock-jumps.ts";
import { diskFull } from "./08-disk-full.ts";
import { ioError } from "./09-io-error.ts";
import { damage } from "./10-damage.ts";
import { crashLoop } from "./11-crash-loop.ts";
import { hung } from "./12-hung.ts";
import { outlive } from "./13-outlive.ts";
import { rightProcess } from "./14-right-process.ts";
import { hostileBytes } from "./15-hostile-bytes.ts";
import { hostileNames } from "./16-hostile-names.ts";
import { notKeystrokes } from "./17-not-keystrokes.ts";
import { unforgeable } from "./18-unforgeable.ts";
import { otherUsers } from "./19-other-users.ts";
import { oneDaemon } from "./20-one-daemon.ts";
import { upgrade } from "./21-upgrade.ts";
import { safeOutput } from "./22-safe-output.ts";
import { exactResume } from "./23-exact-resume.ts";
import { notFiles } from "./26-not-files.ts";
import { ownFiles } from "./27-own-files.ts";
import { twoNamespaces } from "./25-two-namespaces.ts";
import { proofIsProof } from "./28-proof.ts";
import { intoTheConversation } from "./29-into-the-conversation.ts";
import { answeredOnce } from "./30-answered-once.ts";

/** All campaigns, in the order of the promises. */
export const CAMPAIGNS: readonly AnyCampaign[] = [
  ackedIsKept,
  syncBeforeAck,
  atLeastOnce,
  order,
  oneOwner,
  zombie,
  clockJumps,
  diskFull,
  ioError,
  damage,
  crashLoop,
  hung,
  outlive,
  rightProcess,
  hostileBytes,
  hostileNames,
  notKeystrokes,
  unforgeable,
  otherUsers,
  oneDaemon,
  upgrade,
  safeOutput,
  exactResume,
  notFiles,
  ownFiles,
  twoNamespaces,
  proofIsProof,
  intoTheConversation,
  answeredOnce,
];
