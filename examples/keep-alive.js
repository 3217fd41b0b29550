// An orchestrator in thirty lines: keeps two named programs alive, also over its own kill -9. Started again, it finds
// them running and goes on watching; a program that ended meanwhile is started anew under the same name.
import { setTimeout as sleep } from "node:timers/promises";
import { connect, PerdureError } from "perdure";

const programs = {
  web: ["sleep", "600"],
  worker: ["sleep", "600"],
};

await using perdure = await connect();

async function runOf(name, command) {
  try {
    const started = await perdure.start(name, command);
    console.log(`started ${started.address}: ${started.run}`);
    return started.run;
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== "held") throw error;
    console.log(`found ${name}: ${error.details.run}`);
    return error.details.run;
  }
}

async function keep(name, command) {
  for (;;) {
    const { reason, exit } = await perdure.ended(name, await runOf(name, command));
    console.log(`${name} ended (${reason}${exit === null ? "" : `, exit ${exit}`})`);
    await sleep(1000);
  }
}

await Promise.all(Object.entries(programs).map(([name, command]) => keep(name, command)));
