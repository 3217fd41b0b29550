import { NOTICES_WAITING_MAX } from "../../limits/index.ts";
import { notifySettings, type NotifySettings } from "../../project/config/notify.ts";
import { readUserSettings } from "../../project/config/read.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { NoticeOutcome, NoticeRecord } from "../../protocol/records/needs.ts";
import { userConfigFile } from "../../state/paths.ts";
import { workerById } from "../../store/workers.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { recordEvent } from "../events.ts";
import { ntfyRequest } from "./ntfy.ts";
import { runProgram } from "./run-program.ts";
import type { NotifyServices } from "./services.ts";

/** The worker that a notice is about, and its project. */
export interface NoticeSubject {
  projectId: number;
  workerId: number;
}

/** Hands notices to the user's programs, one after the other, and rings the bells of attached terminals. */
export class NoticeSender {
  readonly #services: NotifyServices;
  readonly #turn = new Semaphore(1);
  #waiting = 0;
  /** The mistake in the file that was logged last. */
  #mistake = "";

  constructor(services: NotifyServices) {
    this.#services = services;
  }

  /** Returns the user's settings; the defaults, which run nothing, while the file has a mistake. `doctor` tells of it. */
  settings(): NotifySettings {
    try {
      return notifySettings(readUserSettings(userConfigFile(process.env)));
    } catch (error) {
      if (!isPerdureError(error)) throw error;
      if (this.#mistake !== error.message) this.#services.log(`[notify]: ${error.message}`);
      this.#mistake = error.message;
      return notifySettings({});
    }
  }

  /** Sends a notice by every channel that the settings name; a failure is an event, which `events` and `doctor` show. */
  async send(notice: NoticeRecord, subject: NoticeSubject | null, settings: NotifySettings): Promise<NoticeOutcome[]> {
    const { command, ntfy, details } = settings;
    const environment = operatorEnvironment(this.#services, subject?.workerId ?? null);
    const sending: Promise<NoticeOutcome | null>[] = [];
    if (settings.bell && notice.event !== "went-on") sending.push(this.#ring());
    if (command !== null) sending.push(this.#run("command", command, `${JSON.stringify(notice)}\n`, environment));
    if (ntfy !== null)
      sending.push(this.#run("ntfy", ["curl", "-K", "-"], ntfyRequest(ntfy, notice, details), environment));
    const outcomes = (await Promise.all(sending)).filter((each) => each !== null);
    await this.#record(notice, subject, outcomes);
    return outcomes;
  }

  async #run(
    channel: "command" | "ntfy",
    argv: readonly string[],
    input: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<NoticeOutcome> {
    if (this.#waiting >= NOTICES_WAITING_MAX)
      return { channel, ok: false, detail: `${NOTICES_WAITING_MAX} notices wait already` };
    this.#waiting++;
    try {
      const problem = await this.#turn.run(() => runProgram(argv, input, environment));
      return { channel, ok: problem === null, detail: problem ?? "sent" };
    } finally {
      this.#waiting--;
    }
  }

  /** Nobody is attached more often than not, which is no failure. */
  async #ring(): Promise<NoticeOutcome | null> {
    try {
      const rang = (await this.#services.fleet.tmux.existingServer()?.ring()) ?? 0;
      return rang === 0 ? null : { channel: "bell", ok: true, detail: `${rang} attached` };
    } catch (error) {
      return { channel: "bell", ok: false, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  async #record(
    { event, state, reason }: NoticeRecord,
    subject: NoticeSubject | null,
    outcomes: readonly NoticeOutcome[],
  ): Promise<void> {
    if (outcomes.length === 0) return;
    const services = this.#services;
    const about = subject ?? {};
    const by = outcomes.filter(({ ok }) => ok).map(({ channel }) => channel);
    await services.writer.write(() => {
      if (by.length > 0) recordEvent(services, "notice.sent", about, { event, state, reason, by: by.join(" ") });
      for (const { channel, ok, detail } of outcomes)
        if (!ok) recordEvent(services, "notice.failed", about, { channel, why: detail });
    });
  }
}

/**
 * Returns the environment of the user's own programs: that of the operator's last start of the worker, in which `notify-send` finds its
 * display, over the little that the daemon has of its own.
 */
function operatorEnvironment(services: NotifyServices, workerId: number | null): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", HOME = "/", LANG = "C.UTF-8", USER = "" } = process.env;
  const worker = workerId === null ? null : workerById(services.db, workerId);
  return { PATH, HOME, LANG, USER, ...services.environments.of(worker) };
}
