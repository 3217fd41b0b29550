import { expect, onTestFinished, test } from "vitest";
import { PanePoll } from "../../../src/daemon/fleet/pane-poll.ts";
import { eventually } from "../../support/check.ts";

/** A tmux that reports one title, and then shows others of which it reports nothing, as it does for a second. */
function lateTmux(titles: Record<string, string>): { reports: (run: string) => void; server: unknown } {
  let listener: (pane: { run: string }, title: string) => void = () => undefined;
  const server = {
    onTitle: (heard: typeof listener) => (listener = heard),
    onPanes: () => undefined,
    panes: () => Promise.resolve(Object.entries(titles).map(([run, title]) => ({ run, title, dead: false }))),
  };
  return { reports: (run) => listener({ run }, titles[run] ?? ""), server };
}

test("the title of an agent at work is read, and not taken from what tmux reported a moment ago", async () => {
  const titles: Record<string, string> = { busy: "asks", idle: "rests" };
  const { reports, server } = lateTmux(titles);
  const heard: string[] = [];
  const conversations = {
    reportActivity: () => undefined,
    onTitle: (run: string, title: string) => heard.push(`${run} ${title}`),
    runsWhere: (holds: (attention: object) => boolean) =>
      new Set(holds({ needsTitle: true, needsScreen: () => false }) ? ["busy"] : []),
  };
  const poll = new PanePoll({ conversations } as never, { existingServer: () => server } as never);
  onTestFinished(() => poll.stop());
  poll.start(server as never);
  reports("busy");
  reports("idle");
  Object.assign(titles, { busy: "works", idle: "unread" });
  heard.length = 0;
  await eventually("two polls", () => heard.filter((each) => each === "idle rests").length > 1);
  expect(new Set(heard)).toEqual(new Set(["busy works", "idle rests"]));
});
