import { initial } from "./001-initial.ts";
import { sessions } from "./002-sessions.ts";
import { custody } from "./003-custody.ts";
import { mailTables } from "./004-mail.ts";
import { eventsNoAutoincrement } from "./005-events-no-autoincrement.ts";
import { fleet } from "./006-fleet.ts";
import { plainWords } from "./007-plain-words.ts";
import { movedProjects } from "./008-moved-projects.ts";
import { pidNamespaces } from "./009-pid-namespaces.ts";
import { ownTurns } from "./010-own-turns.ts";
import { sameFolder } from "./011-same-folder.ts";
import { delivery } from "./012-delivery.ts";
import { stableIds } from "./013-stable-ids.ts";
import { conversationNames } from "./014-conversation-names.ts";
import { laterCopies } from "./015-later-files.ts";
import { notices } from "./016-notices.ts";
import { windowOrder } from "./017-window-order.ts";
import { environments } from "./018-environments.ts";
import { turns } from "./019-turns.ts";

/** All migrations in order; the schema version is the number of those that a store has. */
export const MIGRATIONS: readonly string[] = [
  initial,
  sessions,
  custody,
  mailTables,
  eventsNoAutoincrement,
  fleet,
  plainWords,
  movedProjects,
  pidNamespaces,
  ownTurns,
  sameFolder,
  delivery,
  stableIds,
  conversationNames,
  laterCopies,
  notices,
  windowOrder,
  environments,
  turns,
];
