// A view is a session of a terminal's own in the group of a project's session: the same windows, with a current one of its own.
// The daemon removes it when its terminal has left. tmux 3.3a can do so itself (destroy-unattached), but crashes, with every worker,
// when such a terminal is detached by another one.

import { isRefusal, type ControlClient } from "./control-client.ts";

/** The session that the control client attaches to; its pane ended at once. No project's session begins with `_`. */
export const CONTROL_SESSION = "_perdure";

/** The option of a session with the slug of its project. */
export const PROJECT_OPTION = "@perdure_project";

/** Returns the name of the view that the program with this pid has. No project's session has an `@` in its name. */
export function viewName(session: string, pid: string): string {
  return `${session}@${pid}`;
}

/** True, in a format, for a session that is alone or the first of its group: what is listed by these is listed once. */
export const IS_FIRST_OF_GROUP = "#{?session_grouped,#{==:#{session_name},#{s/,.*//:session_group_list}},1}";

/** The name of the project's session, in a format, whichever session of its group is asked: a group has the name of its first. */
export const PROJECT_SESSION = "#{?session_grouped,#{q:session_group},#{q:session_name}}";

/**
 * The hook that gives a terminal a view of its own when it has come to any other session: from the list of workers, with the keys
 * of the next and the last session, or by `tmux attach` typed by hand. From our own session it goes on to a project's.
 */
export function viewHook(): string[] {
  const own = [`#{==:#{client_control_mode},1}`, "#{m:*@#{client_pid},#{session_name}}"];
  const view = "=#{q;s/@.*//:session_name}@#{client_pid}";
  const open = [
    `new-session -A -d -E -c #{q:session_path} -t =#{q:session_name} -s ${view.slice(1)}`,
    `set-option -t ${view}: ${PROJECT_OPTION} '#{${PROJECT_OPTION}}'`,
    `select-window -t ${view}:#{window_index}`,
    `switch-client -t ${view}:`,
  ];
  const leave = `if-shell -F '#{==:#{server_sessions},1}' 'detach-client' 'switch-client -n'`;
  const elsewhere = `if-shell -F '#{==:#{session_name},${CONTROL_SESSION}}' ${quoted(leave)} ${quoted(`run-shell -C ${quoted(open.join(" ; "))}`)}`;
  const hook = `if-shell -F '#{||:${own.join(",")}}' '' ${quoted(elsewhere)}`;
  return ["set-hook", "-g", "client-session-changed[90]", hook];
}

/** The sessions of the server, each with the number of its terminals and its group, in a format. */
export const ALL_SESSIONS = "#{S:#{session_name} #{session_attached} #{session_group}|}";

/** Removes the views that no terminal looks at any more, and makes a project's session again that was closed while some had views of it. */
export async function tidySessions(client: ControlClient, text: string): Promise<void> {
  const sessions = text.split("|").flatMap((row) => {
    const [, name = "", attached, group = ""] = /^(.+) (\d+) (.*)$/.exec(row) ?? [];
    return name === "" ? [] : [{ name, attached: attached !== "0", group }];
  });
  const names = new Set(sessions.map(({ name }) => name));
  for (const { name, group } of sessions) {
    if (group === "" || names.has(group)) continue;
    names.add(group);
    await unlessGone(remakeSession(client, group, name));
  }
  const left = sessions.filter(({ name, attached }) => !attached && /@\d+$/.test(name));
  for (const { name } of left) {
    // A terminal may have come back to its view meanwhile.
    const isStillLeft = async (): Promise<boolean> =>
      (await client.send(["display-message", "-p", "-t", `=${name}:`, "#{session_attached}"]))[0]?.[0] === "0";
    if (await unlessGone(isStillLeft())) await unlessGone(client.send(["kill-session", "-t", `=${name}`]));
  }
}

/** Makes a project's session again from a view of it, which has kept its windows and knows the project. */
async function remakeSession(client: ControlClient, session: string, view: string): Promise<void> {
  const [project = []] = await client.send(["show-options", "-q", "-v", "-t", `=${view}:`, PROJECT_OPTION]);
  await client.send(
    ["new-session", "-d", "-E", "-t", `=${view}`, "-s", session],
    ["set-option", "-t", `=${session}:`, "--", PROJECT_OPTION, project.join("\n")],
  );
}

async function unlessGone<T>(act: Promise<T>): Promise<T | null> {
  return act.catch((error: unknown) => {
    if (isRefusal(error, /can't find|no such session|duplicate session/)) return null;
    throw error;
  });
}

/** Quotes a command as a word of tmux's own language. */
function quoted(command: string): string {
  return `"${command.replace(/["\\$]/g, (char) => `\\${char}`)}"`;
}
