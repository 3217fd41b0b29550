import { isEndUnknown, type Pane } from "./pane-list.ts";

export interface PaneEnd {
  pane: Pane;
  /** Not only its process: the pane itself is no longer there, so nobody can say how it ended. */
  gone: boolean;
}

/** Compares what was seen of the panes with what is seen now. Panes of nobody we know are nobody's news. */
export class PaneWatch {
  readonly #endListeners: ((end: PaneEnd) => void)[] = [];
  readonly #titleListeners: ((pane: Pane, title: string) => void)[] = [];
  #panes = new Map<string, Pane>();

  onDied(listener: (end: PaneEnd) => void): void {
    this.#endListeners.push(listener);
  }

  onTitle(listener: (pane: Pane, title: string) => void): void {
    this.#titleListeners.push(listener);
  }

  /** Everything there is now. */
  update(panes: readonly Pane[]): void {
    const before = this.#panes;
    this.#panes = new Map(panes.filter((pane) => pane.workerId !== null).map((pane) => [pane.id, pane]));
    for (const pane of before.values())
      if (!this.#panes.has(pane.id) && !pane.dead) this.#notifyEnd({ pane, gone: true });
    for (const pane of this.#panes.values()) this.#compare(before.get(pane.id), pane);
  }

  #compare(before: Pane | undefined, now: Pane): void {
    // Another run in its place, or another server's pane of the same number.
    const replaced = before !== undefined && before.run !== now.run;
    if (replaced && !before.dead) this.#notifyEnd({ pane: before, gone: true });
    const known = before !== undefined && !replaced && before.dead;
    // Told once more when tmux learns afterwards how it ended.
    if (now.dead && (!known || (isEndUnknown(before) && !isEndUnknown(now))))
      this.#notifyEnd({ pane: now, gone: false });
    if (now.title !== (before?.title ?? "")) for (const listener of this.#titleListeners) listener(now, now.title);
  }

  #notifyEnd(end: PaneEnd): void {
    for (const listener of this.#endListeners) listener(end);
  }
}
