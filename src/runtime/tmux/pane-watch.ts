import { isEndUnknown, type Pane } from "./pane-list.ts";

export interface PaneEnd {
  pane: Pane;
  /** The pane itself is gone, not only its process, so nobody knows how it ended. */
  gone: boolean;
}

/** Compares each listing of the panes with the one before and notifies of changes. Panes without a worker do not count. */
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

  /** Takes a complete listing of the panes. */
  update(panes: readonly Pane[]): void {
    const before = this.#panes;
    this.#panes = new Map(panes.filter((pane) => pane.workerId !== null).map((pane) => [pane.id, pane]));
    for (const pane of before.values())
      if (!this.#panes.has(pane.id) && !pane.dead) this.#notifyEnd({ pane, gone: true });
    for (const pane of this.#panes.values()) this.#compare(before.get(pane.id), pane);
  }

  #compare(before: Pane | undefined, now: Pane): void {
    // Another run uses the pane, or another server gave the same number.
    const replaced = before !== undefined && before.run !== now.run;
    if (replaced && !before.dead) this.#notifyEnd({ pane: before, gone: true });
    const known = before !== undefined && !replaced && before.dead;
    // Listeners are notified again when tmux learns afterwards how the process ended.
    if (now.dead && (!known || (isEndUnknown(before) && !isEndUnknown(now))))
      this.#notifyEnd({ pane: now, gone: false });
    if (now.title !== (before?.title ?? "")) for (const listener of this.#titleListeners) listener(now, now.title);
  }

  #notifyEnd(end: PaneEnd): void {
    for (const listener of this.#endListeners) listener(end);
  }
}
