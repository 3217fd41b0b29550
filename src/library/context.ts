import type { Surroundings } from "./surroundings.ts";
import { requireText } from "./require.ts";
import { callVerb } from "./verb.ts";

/** The context file of this run, or of the pinned name: notes that outlive the process. */
export class Context {
  readonly #surroundings: Surroundings;

  /** @internal */
  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Returns the path; creates nothing. */
  async path(): Promise<string> {
    const { path } = await callVerb<{ path: string }>(this.#surroundings, ["context", "path", "--absolute", "--json"]);
    return path;
  }

  /** Appends an entry with the time; resolves to the path. */
  async log(text: string): Promise<string> {
    const { path } = await callVerb<{ path: string }>(this.#surroundings, [
      "context",
      "log",
      "--json",
      "--",
      requireText("the entry", text),
    ]);
    return path;
  }

  /** Moves the file to the archive, under its date and title: a clean end. Resolves to the new path. */
  async archive(title: string): Promise<string> {
    const { to } = await callVerb<{ to: string }>(this.#surroundings, [
      "context",
      "archive",
      "--json",
      "--",
      requireText("the title", title),
    ]);
    return to;
  }
}
