import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { Home } from "../../support/home.ts";

const ANALYZE = "systemd-analyze";

function homeWith(name: string): Home {
  const home = new Home();
  home.env.PERDURE_HOME = join(home.dir, name);
  mkdirSync(home.env.PERDURE_HOME, { mode: 0o700 });
  onTestFinished(() => home.clear());
  return home;
}

it("daemon install writes a unit that systemd takes, and uninstall removes it", async ({ skip }) => {
  skip(spawnSync(ANALYZE, ["--version"]).status !== 0, `there is no ${ANALYZE} here`);
  const home = homeWith('odd $HOME 100% "folder"');
  const unit = join(home.dir, ".config/systemd/user/perdure.service");
  const installed = await home.perdure(["daemon", "install"]);
  // Started only where the user has a systemd of their own.
  expect([0, 7]).toContain(installed.code);
  expect(installed.stderr).toContain("loginctl enable-linger");
  const text = readFileSync(unit, "utf8");
  expect(text).toContain("KillMode=process");
  expect(text).toMatch(/^ExecStart=".*node" .*"--service"$/m);
  const verified = spawnSync(ANALYZE, ["verify", "--user", unit], {
    encoding: "utf8",
    env: { ...home.env, XDG_RUNTIME_DIR: home.dir },
  });
  expect({ status: verified.status, said: verified.stderr }).toEqual({ status: 0, said: "" });

  expect(await home.perdure(["daemon", "uninstall"])).toMatchObject({ code: 0 });
  expect(existsSync(unit)).toBe(false);
  expect(await home.perdure(["daemon", "uninstall"])).toMatchObject({
    code: 0,
    stdout: "no service was installed: nothing to remove\n",
  });
});

it("daemon install leaves the daemon that runs alone where systemd does not answer", async () => {
  const home = homeWith("state");
  const bin = join(home.dir, "bin");
  mkdirSync(bin);
  const script = '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "Failed to connect to bus" >&2\nexit 1\n';
  writeFileSync(join(bin, "systemctl"), script, { mode: 0o755 });
  home.env.PATH = `${bin}:${home.env.PATH}`;
  const running = await home.json<{ pid: number }>(["daemon", "start"]);
  const { code, stderr } = await home.perdure(["daemon", "install"]);
  expect(code).toBe(7);
  expect(stderr).toContain("Failed to connect to bus");
  expect(await home.json(["daemon", "status"])).toMatchObject({ pid: running.pid });
});
