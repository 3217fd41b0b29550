import { ask, askList } from "./call.ts";
import type { Command } from "./command.ts";
import { foundHere, ownProject, placeHere } from "./here.ts";
import { workerTable } from "./ls.ts";
import { printable } from "./output.ts";

export const overview: Command = {
  summary: "where you are, and what needs you",
  usage: "",
  examples: ["perdure"],
  words: [0, 0],

  async run({ out }) {
    const found = foundHere();
    const here = placeHere(found);
    const project = await ask("project", { here });
    const { items: workers } = await askList("ls", { here, project: ownProject(), all: false });
    const needy = workers.find(({ attention }) => attention !== null);
    const next = nextStep(workers.length, needy?.name ?? null);
    out.result({ project, workers, next }, () => {
      const title = `${out.paint.bold(project.slug)}  ${out.paint.dim(printable(project.root))}`;
      return [title, workerTable(workers, false, out.paint), `${out.paint.dim("→")} ${next}`]
        .filter(Boolean)
        .join("\n\n");
    });
  },
};

function nextStep(workers: number, needy: string | null): string {
  if (needy !== null) return `perdure show ${needy}`;
  return workers === 0 ? "perdure run NAME -- COMMAND   start a program under a name" : "perdure help";
}
