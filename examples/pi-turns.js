// A daemon that answers mail in Pi: a message comes in, `SESSION PROMPT`; Pi makes one headless turn in the conversation of that session;
// the answer goes out as the reply. Nothing is kept here: killed in the middle of a turn, its next start is offered the same message again.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { connect } from "perdure";

const run = promisify(execFile);

await using perdure = await connect();
// Two daemons never answer the same message: the second is refused here, and mail that comes while there is none waits.
await using server = await perdure.turns("tasks", async ({ body, signal }) => {
  const [session, ...words] = body.split(" ");
  return turn(session, words.join(" "), signal);
});
console.log(`${server.lease.address} is ready`);

process.once("SIGTERM", () => void server.stop());
// Rejects when a turn threw, or when another daemon has taken the name over.
await server.ended;

/** Makes one turn in the conversation of a session: the same file at every call, whoever has made the calls before. */
async function turn(session, prompt, signal) {
  const { stdout: file } = await run("perdure", ["pi-session", session]);
  const env = { ...process.env, GSD_SESSION_ID: session };
  try {
    const { stdout } = await run("pi", ["-p", "--session", file.trim(), prompt], { env, signal });
    return stdout.trim();
  } catch (error) {
    // What Pi says of a failure is an answer, too: asked again, it would fail again.
    if (signal.aborted) throw error;
    return `failed: ${error.stderr?.trim() || error.message}`;
  }
}
