// A daemon that runs tasks in Pi: a message comes in, `KEY PROMPT`; Pi makes one headless turn in the conversation of that key; the
// answer goes out as the reply. Killed in the middle of a task, it is offered the same message again at its next start.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { connect } from "perdure";

const run = promisify(execFile);

await using perdure = await connect();
// One daemon at a time has the name, and mail that comes while there is none waits for the next.
await using lease = await perdure.claim("tasks");
lease.onDisplaced((by) => {
  console.error(`another daemon has the tasks: ${by}`);
  process.exit(4);
});
console.log(`${lease.address} is ready`);

for await (const message of lease.receive()) {
  const [key, ...words] = message.body.split(" ");
  // The reply also acknowledges the message, in one change: a task is offered again, or answered, never both.
  await message.reply(await turn(key, words.join(" ")));
}

/** Makes one turn in the conversation of a key, which is the same file at every call. */
async function turn(key, prompt) {
  try {
    const session = await perdure.piSession(key);
    const env = { ...process.env, GSD_SESSION_ID: key };
    const pi = run("pi", ["-p", "--session", session, prompt], { env });
    pi.child.stdin.end(); // Pi waits for the end of a pipe
    return (await pi).stdout.trim();
  } catch (error) {
    return `failed: ${error.message}`;
  }
}
