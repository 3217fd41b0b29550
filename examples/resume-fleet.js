// One flag resumes the fleet: the agents of perdure.toml under one human name, each in the conversation it was in.
//   node resume-fleet.js --session friday    names this run; the name follows the agents to other conversations
//   node resume-fleet.js --resume friday     after a crash or a reboot: all of them come back, or none, with the reasons
import { parseArgs } from "node:util";
import { connect, PerdureError } from "perdure";

const { values } = parseArgs({ options: { session: { type: "string" }, resume: { type: "string" } } });

await using perdure = await connect();
try {
  // The operator who starts this program agrees to what perdure.toml runs.
  const fleet = values.resume
    ? await perdure.resume(values.resume, { trust: true })
    : await perdure.up({ trust: true, ...(values.session && { session: values.session }) });
  for (const { name, outcome, session, reason } of fleet.workers) {
    const conversation = session ? `${session.step} ${session.vendor} ${session.id}` : "without a conversation";
    console.log(`${name}: ${outcome}, ${reason ?? conversation}`);
  }
} catch (error) {
  if (!(error instanceof PerdureError)) throw error;
  console.error(`${error.message}\n→ ${error.hint ?? "nothing to try"}`);
  process.exitCode = error.exitCode;
}

for await (const { name, active, workers } of perdure.saved()) {
  console.log(`saved ${name}${active ? " (current)" : ""}: ${workers.map((worker) => worker.name).join(", ")}`);
}
