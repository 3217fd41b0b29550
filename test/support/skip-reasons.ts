import type { Reporter, TestModule } from "vitest/node";

/** Prints why a test was skipped, at the end of a run: vitest itself counts such tests, and says no more. */
export class SkipReasons implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const result = test.result();
        // One that was left out by `-t` has no reason, and needs none.
        const why = result.state === "skipped" ? result.note : undefined;
        if (why !== undefined) process.stdout.write(`skipped: ${module.relativeModuleId} > ${test.fullName}: ${why}\n`);
      }
    }
  }
}
