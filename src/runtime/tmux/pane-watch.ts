import { endUnknown, type Pane } from "./pane-list.ts";

export interface PaneEnd {
  pane: Pane;
  /** Not only its process: the pane itself is no longer there, so nobody can say how it ended. */
  gone: boolean;
}

/** Compares what was seen of the panes with what is seen now. Panes of nobody we know are nobody's news. */
export class PaneWatch {
  readonly #died: ((end: PaneEnd) => void)[] = [];
  readonly #titled: ((pane: Pane, title: string) => void)[] = [];
  #seen = new Map<string, Pane>();

  onDied(listener: (end: PaneEnd) => void): void {
    this.#died.push(listener);
  }

  onTitle(listener: (pane: Pane, title: string) => void): void {
    this.#titled.push(listener);
  }

  /** Everything there is now. */
  see(panes: readonly Pane[]): void {
    const before = this.#seen;
    this.#seen = new Map(panes.filter((pane) => pane.workerId !== null).map((pane) => [pane.id, pane]));
    for (const pane of before.values()) if (!this.#seen.has(pane.id) && !pane.dead) this.#tellEnd({ pane, gone: true });
    for (const pane of this.#seen.values()) this.#compare(before.get(pane.id), pane);
  }

  #compare(before: Pane | undefined, now: Pane): void {
    // Another run in its place, or another server's pane of the same number.
    const replaced = before !== undefined && before.run !== now.run;
    if (replaced && !before.dead) this.#tellEnd({ pane: before, gone: true });
    const known = before !== undefined && !replaced && before.dead;
    // Told once more when tmux learns afterwards how it ended.
    if (now.dead && (!known || (endUnknown(before) && !endUnknown(now)))) this.#tellEnd({ pane: now, gone: false });
    if (now.title !== (before?.title ?? "")) for (const listener of this.#titled) listener(now, now.title);
  }

  #tellEnd(end: PaneEnd): void {
    for (const listener of this.#died) listener(end);
  }
}
