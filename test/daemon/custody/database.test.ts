import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inHome } from "../../support/in-home.ts";

const SESSION = "ses_e120a0000ffe0000000000000a";

/** Makes a program that keeps its conversation in a database: every run adds a message. It logs what it is asked. */
function makeProgram(folder: string): string {
  mkdirSync(folder);
  const log = join(folder, "log");
  const more = join(folder, "more");
  const info = JSON.stringify({ id: SESSION, version: "1.18.33" });
  const script = `#!/bin/sh
echo "$1" >> '${log}'
case $1 in
  run) [ ! -f '${folder}/takes' ] || . '${folder}/takes'; printf ',{"info":{"id":"msg_%s"}}' "$(wc -c < '${more}' | tr -d ' ')" >> '${more}' ;;
  import) cp "$2" '${folder}/taken-in'; sed -n 's/^.*"messages":\\[{}\\(.*\\)\\]}$/\\1/p' "$2" | tr -d '\\n' > '${more}' ;;
  export) printf '%s' '{"info":${info},"messages":[{}'; cat '${more}'; echo ']}' ;;
esac
`;
  writeFileSync(more, "");
  writeFileSync(join(folder, "opencode"), script, { mode: 0o755 });
  return log;
}

test("a start asks for a conversation in a database once if the copy is up to date", () =>
  inHome(async (home) => {
    const folder = join(home.dir, "bin");
    const log = makeProgram(folder);
    home.env.PATH = `${folder}:${home.env.PATH}`;
    const adopted = await home.perdure(["adopt", "w", "--vendor", "opencode", "--conversation", SESSION]);
    expect(adopted).toMatchObject({ code: 0 });
    const command = ["run", "w", "--", "opencode", "run", "--", "hello"];
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
    const asked = readFileSync(log, "utf8").trim().split("\n");
    const between = asked.slice(asked.indexOf("run") + 1, asked.lastIndexOf("run"));
    // The proof and the copy of the first run, and a look before the second.
    expect(between).toEqual(["export", "export", "export"]);
  }));

test("A1: messages that are gone since the last run are a loss, with both ways out", () =>
  inHome(async (home) => {
    const folder = join(home.dir, "bin");
    makeProgram(folder);
    const more = join(folder, "more");
    home.env.PATH = `${folder}:${home.env.PATH}`;
    const adopt = ["adopt", "w", "--vendor", "opencode", "--conversation", SESSION];
    expect(await home.perdure(adopt)).toMatchObject({ code: 0 });
    const command = ["run", "w", "--", "opencode", "run", "--", "hello"];
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
    const older = readFileSync(more, "utf8");
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
    expect(await home.perdure(["drill"])).toMatchObject({ code: 0 });
    const newer = readFileSync(more, "utf8");

    writeFileSync(more, older);
    const gone = expect.stringContaining("1 of its messages is gone since its last run") as string;
    expect(await home.perdure(["drill"])).toMatchObject({ code: 5, stdout: gone });
    const refused = await home.perdure(command);
    expect(refused).toMatchObject({ code: 5, stderr: gone });
    for (const way of ["perdure adopt w --kept", adopt.join(" ")]) expect(refused.stderr).toContain(way);
    expect(readFileSync(more, "utf8")).toBe(older);

    expect(await home.perdure(["adopt", "w", "--kept"])).toMatchObject({ code: 0 });
    expect(readFileSync(more, "utf8")).toBe(newer);
    expect(await home.perdure(["drill"])).toMatchObject({ code: 0 });
    writeFileSync(more, older);
    expect(await home.perdure(adopt)).toMatchObject({ code: 0 });
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
  }));

test("A1: messages that a run has lost are a loss; what its user takes back is none", () =>
  inHome(async (home) => {
    const folder = join(home.dir, "bin");
    makeProgram(folder);
    const [more, takes] = [join(folder, "more"), join(folder, "takes")];
    home.env.PATH = `${folder}:${home.env.PATH}`;
    const adopt = ["adopt", "w", "--vendor", "opencode", "--conversation", SESSION];
    expect(await home.perdure(adopt)).toMatchObject({ code: 0 });
    const command = ["run", "w", "--", "opencode", "run", "--", "hello"];
    for (let n = 0; n < 3; n++) expect(await home.perdure(command)).toMatchObject({ code: 0 });

    const message = `,{"info":{"id":"msg_[0-9]*"}}`;
    // What a run says is more than what it takes.
    const says = (id: number): string => `printf ',{"info":{"id":"msg_${id}"}}' >> '${more}'`;
    writeFileSync(takes, `sed -i 's/${message}$//' '${more}'\n${says(90_001)}\n`);
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
    expect(await home.perdure(["drill"])).toMatchObject({ code: 0 });

    const whole = readFileSync(more, "utf8");
    writeFileSync(takes, `sed -i 's/^${message}//' '${more}'\n${says(90_002)}\n`);
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
    const gone = expect.stringContaining("1 of its messages is gone, and was not taken back by its user") as string;
    expect(await home.perdure(["drill"])).toMatchObject({ code: 5, stdout: gone });
    expect(await home.perdure(command)).toMatchObject({ code: 5, stderr: gone });
    expect(await home.perdure(["adopt", "w", "--kept"])).toMatchObject({ code: 0 });
    expect(readFileSync(more, "utf8")).toBe(whole);
    writeFileSync(takes, "");
    expect(await home.perdure(command)).toMatchObject({ code: 0 });
  }));
