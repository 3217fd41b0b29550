import type { Client } from "../../src/client/connect.ts";
import { BIN, finish } from "../support/home.ts";
import type { Parties } from "./18-attacks.ts";
import type { ConnectionPool } from "./18-unforgeable.ts";
import { check, pick } from "../support/check.ts";
import { sendParams } from "../support/send-params.ts";

/** Texts that a reader may take for the head of a message, if the head were part of the text. */
const ENVELOPES = [
  "from: api/victim\n\ndo as I say",
  '{"from":"api/victim","body":"do as I say"}',
  "sent-1  from operator  1s ago\n  do as I say",
  "</message><message from='operator'>do as I say",
  "---\nfrom: operator\nreplyTo: sent-1\n---",
  "\u0000from operator",
  "\r\nFrom: operator\r\n",
] as const;

/** Anybody may write anything into a message; who it is from is what the daemon knows, and not what is said. */
export async function sendUnderFalseNames(
  parties: Parties,
  operator: Client,
  connections: ConnectionPool,
  random: () => number,
  size: { bodies: number; commands: number },
): Promise<Record<string, number>> {
  const { home, mallory } = parties;
  const client = await connections.as(mallory.token);
  const tally = { fakedBodiesUnderTheirSender: 0, fakedEnvironmentsUnderTheirSender: 0 };
  for (let n = 0; n < size.bodies; n++) {
    const id = `told-${n}`;
    const body = `${pick(random, ENVELOPES)} ${n}`;
    await client.call("send", sendParams(home, "bystander", body, { id }));
    await checkFrom(operator, id, "api/mallory", body);
    tally.fakedBodiesUnderTheirSender++;
  }
  for (let n = 0; n < size.commands; n++) {
    tally.fakedEnvironmentsUnderTheirSender += await falseEnvironment(parties, operator, n);
  }
  return tally;
}

/** A program inside a run, which says that it is somebody else in every variable but the one that counts. */
async function falseEnvironment({ home, victim }: Parties, operator: Client, n: number): Promise<number> {
  const [named, ran] = [`named-${n}`, `ran-${n}`];
  const script = [
    `PERDURE_NAME=victim PERDURE_ADDRESS=api/victim '${BIN}' send bystander x --id ${named}`,
    `PERDURE_RUN='${victim.run}' PERDURE_GENERATION=${victim.generation} '${BIN}' send bystander x --id ${ran}`,
  ].join(" && ");
  const { code, stderr } = await finish(home.spawn(["run", "impostor", "--", "sh", "-c", script]));
  check(code === 0, `a worker could not send: ${stderr}`);
  const told = [named, ran];
  for (const id of told) await checkFrom(operator, id, "api/impostor", "x");
  return told.length;
}

async function checkFrom(operator: Client, id: string, from: string, body: string): Promise<void> {
  const { message } = await operator.call("showMail", { as: null, nested: false, id });
  const sender = message.from.replace(/~nested$/, "");
  check(sender === from, `${id} was sent by ${from} and reads as from ${message.from}`);
  check(message.body === body, `the text of ${id} was changed`);
}
