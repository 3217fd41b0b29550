import * as fc from "fast-check";
import { claimLease, displaceLease, endLease, leaseStanding, type LeaseState } from "../../src/core/lease.ts";
import { check } from "../support/check.ts";

type Step =
  | { do: "claim" }
  | { do: "die"; run: number }
  | { do: "displace" }
  | { do: "ended"; run: number }
  | { do: "write"; run: number; generation: number };

const index = fc.nat({ max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ do: "claim" }),
  index.map((run): Step => ({ do: "die", run })),
  fc.constant<Step>({ do: "displace" }),
  index.map((run): Step => ({ do: "ended", run })),
  fc.tuple(index, fc.nat({ max: 30 })).map(([run, generation]): Step => ({ do: "write", run, generation })),
);

/** Random histories of one lease, each step compared with what a list of everything that happened would say. */
export function leaseAgainstModel(histories: number, seed: number): Record<string, number> {
  let steps = 0;
  const holds = fc.property(fc.array(step, { minLength: 1, maxLength: 40, size: "max" }), (history) => {
    const model = new LeaseModel();
    for (const each of history) model.play(each);
    steps += history.length;
  });
  fc.assert(holds, { numRuns: histories, seed });
  return { histories, historySteps: steps };
}

interface ModelRun {
  id: string;
  generation: number;
  alive: boolean;
  fenced: boolean;
  over: boolean;
}

/** The naive model: every run that ever was, and who of them still stands for the name. */
class LeaseModel {
  #lease: LeaseState = { phase: "free", generation: 0 };
  readonly #runs: ModelRun[] = [];
  #highest = 0;

  play(each: Step): void {
    if (each.do === "claim") this.#claim();
    else if (each.do === "displace") this.#displace();
    else if (each.do === "write") this.#write(each.run, each.generation);
    else this.#end(each.run, each.do);
    const current = this.#runs.filter(({ id, generation }) => leaseStanding(this.#lease, id, generation) === "current");
    check(current.length <= 1, () => `${current.length} owners`);
    check(current[0] === this.#owner(), "the owner is not the model's");
    check(this.#lease.generation === this.#highest, `generation ${this.#lease.generation}, model ${this.#highest}`);
  }

  #claim(): void {
    const taken = this.#holder();
    const id = `run-${this.#runs.length}`;
    const decision = claimLease(this.#lease, id, taken?.alive ?? false);
    check(decision.granted === !(taken?.alive ?? false), "granted against the model");
    if (!decision.granted) return;
    check(decision.lease.generation > this.#highest, "the generation did not rise");
    check(decision.replaced === (taken?.id ?? null), "another run was replaced");
    if (taken) taken.over = true;
    this.#highest = decision.lease.generation;
    this.#lease = decision.lease;
    this.#runs.push({ id, generation: this.#highest, alive: true, fenced: false, over: false });
  }

  #displace(): void {
    const owner = this.#owner();
    this.#lease = displaceLease(this.#lease);
    if (!owner) return;
    owner.fenced = true;
    this.#highest++;
  }

  #end(at: number, how: "die" | "ended"): void {
    const run = this.#runs[at];
    if (!run) return;
    run.alive = false;
    if (how === "die") return;
    run.over = true;
    this.#lease = endLease(this.#lease, run.id);
  }

  #write(at: number, generation: number): void {
    const run = this.#runs[at];
    if (!run) return;
    const allowed = run === this.#owner() && run.generation === generation;
    check(
      (leaseStanding(this.#lease, run.id, generation) === "current") === allowed,
      "a write was judged against the model",
    );
  }

  /** Who keeps others from claiming: fenced or not, as long as its end is not recorded. */
  #holder(): ModelRun | undefined {
    return this.#runs.find(({ over }) => !over);
  }

  #owner(): ModelRun | undefined {
    return this.#runs.find(({ over, fenced }) => !over && !fenced);
  }
}
