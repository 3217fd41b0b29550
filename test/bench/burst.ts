// Sixty senders at once, in a process of their own: prints how many messages a second were acknowledged.
//   node burst.ts HOME PROJECT SENDERS EACH ROUND
import { connectToDaemon } from "../../src/client/connect.ts";
import { benchMessage } from "./mailing.ts";

const [home = "", project = "", senders = "60", each = "200", round = "0"] = process.argv.slice(2);
const env = { HOME: home, PATH: process.env.PATH ?? "" };
const clients = await Promise.all(Array.from({ length: Number(senders) }, () => connectToDaemon({ env })));
const since = performance.now();
await Promise.all(
  clients.flatMap((client, sender) =>
    Array.from({ length: Number(each) }, (_, n) =>
      client.call("send", benchMessage(project, "reader", `burst-${round}-${sender}-${n}`)),
    ),
  ),
);
const seconds = (performance.now() - since) / 1000;
for (const client of clients) client.close();
console.log((Number(senders) * Number(each)) / seconds);
