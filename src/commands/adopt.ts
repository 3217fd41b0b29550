import { statSync } from "node:fs";
import { resolve } from "node:path";
import { readProjectConfig } from "../project/config.ts";
import { PerdureError } from "../protocol/errors.ts";
import { recordedEnvironment } from "../runtime/environment.ts";
import { adapterNames } from "../vendors/index.ts";
import { ask } from "./ask.ts";
import type { Command } from "./command.ts";
import { foundHere, placeHere, targetOf } from "./here.ts";

export const adopt: Command = {
  summary: "bind a worker to a vendor conversation that exists",
  usage: "NAME --vendor V --session ID [--cwd DIR]",
  details: [
    "For a conversation that was begun by hand, or to take what is left of a worker's own after a loss. DIR is",
    "where it began, this folder by default; the vendor's config dir is that of the environment. `perdure run",
    "NAME` then resumes it. What the worker was in before stays in its history.",
  ].join("\n"),
  examples: ["perdure adopt coder --vendor claude --session 0b6f3a52-6c0e-4c1c-9d3a-6f2f0f3f9a11"],
  options: { vendor: { type: "string" }, session: { type: "string" }, cwd: { type: "string" } },
  words: [1, 1],

  async run({ words, values, out }) {
    const found = foundHere();
    const name = words[0] ?? "";
    if (typeof values.vendor !== "string" || typeof values.session !== "string") {
      throw new PerdureError("usage", "adopt needs --vendor and --session.", {
        hint: `perdure adopt ${name} --vendor ${adapterNames()[0]} --session ID`,
      });
    }
    const cwd = resolve(typeof values.cwd === "string" ? values.cwd : ".");
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
      throw new PerdureError("not-found", `There is no folder ${cwd}.`, { hint: "--cwd is where it was begun" });
    }
    const environment = recordedEnvironment(process.env, readProjectConfig(found).policy?.environment ?? []);
    const target = targetOf(name, placeHere(found));
    const adopted = await ask("adopt", { target, vendor: values.vendor, session: values.session, cwd, environment });
    out.result(adopted, () => `${adopted.address} is in ${adopted.session.vendor} conversation ${adopted.session.id}`);
    out.note(`→ perdure run ${name}`);
  },
};
