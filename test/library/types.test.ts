import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  ClaimOptions,
  EventRecord,
  Lease,
  Perdure,
  PerdureError,
  RunRecord,
  StartedWorker,
  WorkerSummary,
} from "../../src/index.ts";

const ROOT = resolve(import.meta.dirname, "../..");

describe("the library's types", () => {
  it("say what each call gives", () => {
    expectTypeOf<Perdure["claim"]>().toEqualTypeOf<(name?: string | null, options?: ClaimOptions) => Promise<Lease>>();
    expectTypeOf<ReturnType<Perdure["start"]>>().toEqualTypeOf<Promise<StartedWorker>>();
    expectTypeOf<ReturnType<Perdure["list"]>>().toExtend<AsyncIterable<WorkerSummary>>();
    expectTypeOf<ReturnType<Perdure["history"]>>().toExtend<AsyncIterable<RunRecord>>();
    expectTypeOf<ReturnType<Perdure["events"]>>().toExtend<AsyncIterable<EventRecord>>();
    expectTypeOf<Lease["generation"]>().toEqualTypeOf<number>();
    expectTypeOf<Lease>().toExtend<AsyncDisposable>();
    expectTypeOf<"held">().toExtend<PerdureError["code"]>();
    expectTypeOf<"no-such-code">().not.toExtend<PerdureError["code"]>();
  });

  it("work for a strict program that has only the package", () => {
    const dir = mkdtempSync(join(tmpdir(), "perdure-types-"));
    try {
      mkdirSync(join(dir, "node_modules/@types"), { recursive: true });
      symlinkSync(ROOT, join(dir, "node_modules/perdure"));
      for (const name of ["@types/node", "undici-types"]) {
        symlinkSync(join(ROOT, "node_modules", name), join(dir, "node_modules", name));
      }
      writeFileSync(join(dir, "package.json"), '{"type":"module"}');
      writeFileSync(
        join(dir, "guest.ts"),
        `import { connect, PerdureError, type Lease } from "perdure";
const perdure = await connect();
const lease: Lease = await perdure.claim("x");
const generation: number = lease.generation;
// @ts-expect-error a generation is a number
const wrong: string = lease.generation;
for await (const worker of perdure.list()) console.log(worker.state satisfies string, generation, wrong);
console.log(new PerdureError("held", "x").exitCode.toFixed());
`,
      );
      const flags = [
        "--strict",
        "--noEmit",
        "--module",
        "nodenext",
        "--target",
        "es2024",
        "--lib",
        "es2024,esnext.disposable",
        "--types",
        "node",
        "--preserveSymlinks",
      ];
      const run = (): string =>
        execFileSync(join(ROOT, "node_modules/.bin/tsc"), [...flags, "guest.ts"], { cwd: dir, encoding: "utf8" });
      expect(run()).toBe("");
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
