import type { MailServices } from "../mail/services.ts";
import type { RunWatch } from "../runs/watch.ts";
import type { WorkerActivities } from "../worker-activity.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";

/** Services of the code that puts mail before agents' models. */
export interface DeliveryServices extends MailServices {
  readonly runs: RunWatch;
  readonly activities: WorkerActivities;
  readonly conversations: FollowedRuns;
  readonly terminals: Terminals;
}

/** The panes of the fleet, by the runs in them. A run in a terminal of the user's has none. */
export interface Terminals {
  /** Returns what the run's pane shows, whether it takes a paste, and the name of the last paste; null when the run has no pane. */
  view(run: string): Promise<{ screen: string; takesPaste: boolean; pasted: string } | null>;
  /** Pastes texts, each in one bracketed frame, as a paste of this name; false when the run has no pane. */
  paste(run: string, texts: readonly string[], name: string): Promise<boolean>;
  pressEnter(run: string): Promise<boolean>;
}

/** The part of the followed conversations that delivery needs. */
interface FollowedRuns {
  /** Returns the transcript of the run's conversation; null while it is not known. */
  transcriptOf(run: string): string | null;
  /** Returns the conversation of another worker that the run's agent has changed to; null while it is in its own. */
  foreignConversationOf(run: string): string | null;
  /** Returns the process of the run's agent, and looks for it if it was not seen yet; null where there is none. */
  findAgent(run: string): ProcessInfo | null;
}
