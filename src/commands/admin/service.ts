import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { daemonCommand } from "../../client/autostart.ts";
import type { Environment } from "../../util/environment.ts";
import { exitCodeOf, PerdureError } from "../../protocol/errors.ts";
import { writeFileAtomic } from "../../state/files.ts";
import { makeSafeFolder } from "../../state/safe-folder.ts";
import { DIST, homeDir, statePaths } from "../../state/paths.ts";
import type { Invocation } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { stopDaemon } from "./stop-daemon.ts";

// Installs the daemon as a service of the user's systemd, which starts it at boot and so brings the fleet back.

const UNIT = "perdure.service";

export async function install({ out }: Invocation): Promise<number> {
  requireSystemd();
  const file = unitFile(process.env);
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomic(file, unitText(process.env));
  // systemd opens the log itself, so its folder must exist; and the service cannot serve beside another daemon.
  makeSafeFolder(statePaths(process.env).dir);
  makeSafeFolder(dirname(statePaths(process.env).log));
  // A daemon that runs is only stopped for a systemd that answers.
  const unanswered = systemctl(["daemon-reload"]) ?? systemctl(["enable", UNIT]);
  if (unanswered === null) await stopDaemon();
  const failed = unanswered ?? systemctl(["start", UNIT]);
  const linger = `loginctl enable-linger ${userInfo().username}`;
  out.result({ file, enabled: failed === null, linger }, () => {
    return failed === null
      ? `installed and started: ${printable(file)}`
      : `written, but not started: ${printable(file)}`;
  });
  if (failed !== null) {
    out.note(`systemctl failed (${printable(failed)}); once systemd is running: systemctl --user enable --now ${UNIT}`);
  }
  out.note(`To start it at boot, not only when you log in: ${linger}`);
  return failed === null ? 0 : exitCodeOf("unavailable");
}

export async function uninstall({ out }: Invocation): Promise<void> {
  const file = unitFile(process.env);
  if (!existsSync(file))
    return out.result({ file, removed: false }, () => "no service was installed: nothing to remove");
  // Workers live on, because the unit kills the daemon alone.
  const failed = systemctl(["disable", "--now", UNIT]);
  rmSync(file);
  systemctl(["daemon-reload"]);
  out.result({ file, removed: true }, () => `removed: ${printable(file)}; workers keep running`);
  if (failed !== null) out.note(`systemctl failed: ${printable(failed)}`);
}

function requireSystemd(): void {
  const { error } = spawnSync("systemctl", ["--version"], { stdio: "ignore" });
  if (error === undefined) return;
  throw new PerdureError("unavailable", "There is no systemd here (systemctl was not found).", {
    hint: "the daemon starts by itself at first use; after a reboot: perdure up",
  });
}

/** Runs systemctl for the user; returns what went wrong, or null. */
function systemctl(args: string[]): string | null {
  const { status, stderr, error } = spawnSync("systemctl", ["--user", ...args], { encoding: "utf8" });
  if (status === 0) return null;
  return (error?.message ?? stderr.trim().split("\n")[0]) || `systemctl exited with ${status}`;
}

function unitFile(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(homeDir(env), ".config"), "systemd", "user", UNIT);
}

/**
 * Writes the unit. KillMode=process, because a restart, an upgrade or an uninstall of the daemon must not touch the
 * workers, whose tmux server lives in the same control group.
 */
function unitText(env: Environment): string {
  const { log } = statePaths(env);
  const settings = ["PATH", "PERDURE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]
    .filter((name) => env[name])
    .map((name) => `Environment=${quoted(`${name}=${env[name]}`)}`);
  // In a command systemd expands dollar signs as well.
  const command = [...daemonCommand(), join(DIST, "daemon.cjs"), "--service"]
    .map((word) => quoted(word).replaceAll("$", "$$$$"))
    .join(" ");
  return `# Written by perdure daemon install; perdure daemon uninstall removes it.
[Unit]
Description=perdure: names for coding agents that outlive their processes

[Service]
Type=exec
ExecStart=${command}
${settings.join("\n")}
StandardOutput=null
StandardError=append:${log.replaceAll("%", "%%")}
KillMode=process
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
`;
}

/** Quotes a word for systemd: escapes quotes and backslashes, and doubles percent signs, which would be expanded. */
function quoted(word: string): string {
  const escaped = word.replace(/[\\"]/g, (char) => `\\${char}`).replaceAll("%", "%%");
  return `"${escaped}"`;
}
