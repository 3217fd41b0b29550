import { objectSchema, textField, type Tool } from "../tool.ts";
import { ownMail, ownWorker } from "./place.ts";

export const whoamiTool: Tool = {
  name: "whoami",
  title: "Who am I",
  description: "Returns your own name and address, under which other agents reach you.",
  readOnly: true,
  input: objectSchema({}),
  output: objectSchema({
    address: textField(),
    project: textField(),
    name: textField(),
    run: textField(),
    generation: { type: "integer" },
    nested: { type: "boolean", description: "You were started by the worker's own agent, and have no mailbox." },
  }),
  async run(_args, call) {
    const { worker, project } = ownWorker(call);
    const { id: run, generation } = call.actor.run;
    const { address } = call.actor;
    return { address, project: project.slug, name: worker.name, run, generation, nested: call.nested };
  },
};

const WORKER = objectSchema({
  name: textField(),
  address: textField(),
  vendor: { type: ["string", "null"] },
  state: textField("`idle`, `busy`, `stopped` and so on; mail reaches a stopped one at its next start."),
  unread: { type: "integer", description: "Messages on their way to it." },
  you: { type: "boolean" },
});

export const listTool: Tool = {
  name: "list",
  title: "List the agents",
  description: "Lists the agents of your project by name, with their states.",
  readOnly: true,
  input: objectSchema({}),
  output: objectSchema({ workers: { type: "array", items: WORKER } }),
  async run(_args, call) {
    const { here, project } = ownMail(call);
    const workers = await call.collect("ls", { here, project, all: false });
    return {
      workers: workers.map(({ name, address, vendor, state, unread }) => {
        return { name, address, vendor, state, unread, you: address === call.actor.address };
      }),
    };
  },
};
