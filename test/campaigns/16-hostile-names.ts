import { connectToDaemon } from "../../src/client/connect.ts";
import { asPerdureError } from "../../src/protocol/errors.ts";
import { fileNameOf } from "../../src/protocol/foreign-id.ts";
import { checkName, isName, parseAddress, slugName } from "../../src/protocol/names.ts";
import { formatRunId, parseRunId } from "../../src/protocol/run-id.ts";
import type { ClaimGrant } from "../../src/protocol/records/launch.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, whole } from "../support/check.ts";
import { hostileName } from "./support/hostile-names.ts";
import { clientClaim, inHome } from "../support/in-home.ts";
import { entriesBelow } from "../support/tree.ts";

interface Size {
  names: number;
  claims: number;
  commands: number;
}

export const hostileNames = campaign<Size>({
  number: 16,
  promise: "hostile names are refused or kept byte for byte",
  reduced: { names: 10_000, claims: 300, commands: 40 },
  full: { names: 10_000, claims: 10_000, commands: 500 },
  async run(size, seed) {
    const random = seeded(seed);
    const names = Array.from({ length: size.names }, () => hostileName(random));
    const pure = checkPure(names, random);
    const real = await inHome((home) => checkReal(home, names, size));
    return { names: names.length, ...pure, ...real, filesOutside: 0 };
  },
});

function checkPure(names: readonly string[], random: () => number): Record<string, number> {
  let accepted = 0;
  const files = new Map<string, string>();
  for (const name of names) {
    if (verdict(() => checkName(name)) === name) accepted++;
    checkSlug(name);
    checkAddress(name, names[whole(random, names.length)] ?? "");
    checkFileName(name, files);
    checkRunId(name);
  }
  return { accepted, refused: names.length - accepted, fileNames: files.size };
}

/** Returns the text that came back, or null for a refusal in our own words. Anything else is a violation. */
function verdict(judge: () => string): string | null {
  try {
    return judge();
  } catch (thrown) {
    const { code, hint } = asPerdureError(thrown);
    check(code === "usage" && hint !== null, () => `refused with ${code}: ${String(thrown)}`);
    return null;
  }
}

function checkSlug(name: string): void {
  const slug = slugName(name);
  check(isName(slug), () => `slugName(${JSON.stringify(name)}) is ${JSON.stringify(slug)}, which is no name`);
}

function checkAddress(name: string, project: string): void {
  const text = `${project}/${name}`;
  const parsed = verdict(() => Object.values(parseAddress(text)).join("/"));
  check(parsed === null || parsed === text, () => `${JSON.stringify(text)} was read as ${JSON.stringify(parsed)}`);
  check((parsed === text) === (isName(name) && isName(project)), () => `${JSON.stringify(text)} was judged as a whole`);
}

/** Injective on file systems that ignore case; one path component that means nothing special to any of them. */
function checkFileName(id: string, files: Map<string, string>): void {
  const file = fileNameOf(id);
  const safe = /^[A-Za-z0-9._~-]{1,200}$/.test(file) && file !== "." && file !== "..";
  check(safe, () => `fileNameOf(${JSON.stringify(id)}) is ${JSON.stringify(file)}`);
  const other = files.get(file.toLowerCase());
  check(
    other === undefined || other === id,
    () => `${JSON.stringify(other)} and ${JSON.stringify(id)} share the file ${file}`,
  );
  files.set(file.toLowerCase(), id);
}

function checkRunId(name: string): void {
  const id = formatRunId({ host: name, project: name, worker: name, epoch: 1_800_000_000 });
  check(
    id.split(".").length === 4 && parseRunId(id)?.epoch === 1_800_000_000,
    () => `run id ${JSON.stringify(id)} does not split into four`,
  );
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  check(!/[\u0000-\u0020/\\$`]/.test(id), () => `run id ${JSON.stringify(id)} can be interpreted`);
}

/** The same names against a real daemon and the real command line: nothing but the state folder may change. */
async function checkReal(home: Home, names: readonly string[], size: Size): Promise<Record<string, number>> {
  const client = await connectToDaemon({ env: home.env });
  const before = entriesBelow(home.dir, home.state).join("\n");
  let granted = 0;
  try {
    for (const name of names.slice(0, size.claims)) {
      const answer = await client.call("claim", clientClaim(home, name, process.pid)).catch(asPerdureError);
      if (!("run" in answer)) {
        check(
          ["usage", "held"].includes(answer.code),
          () => `${JSON.stringify(name)} was answered with ${answer.code}: ${answer.message}`,
        );
        continue;
      }
      checkGrant(answer, name);
      await client.call("release", { run: answer.run, generation: answer.generation, token: answer.token });
      granted++;
    }
  } finally {
    client.close();
  }
  const ran = await checkCommands(home, names.slice(0, size.commands));
  const after = entriesBelow(home.dir, home.state).join("\n");
  check(after === before, () => `files outside the state folder changed:\n${before}\n→\n${after}`);
  return { claimsGranted: granted, claimsRefused: Math.min(size.claims, names.length) - granted, ...ran };
}

function checkGrant(grant: ClaimGrant, name: string): void {
  check(isName(name), () => `${JSON.stringify(name)} was granted`);
  // An existing worker keeps the case it was created with.
  check(
    grant.name.toLowerCase() === name.toLowerCase(),
    () => `${JSON.stringify(name)} became ${JSON.stringify(grant.name)}`,
  );
}

/** Tries a name as an argument of `run`; a NUL cannot even be passed. */
async function checkCommands(home: Home, names: readonly string[]): Promise<Record<string, number>> {
  const counts = { commandsRan: 0, commandsRefused: 0 };
  for (const name of names.filter((each) => !each.includes("\0"))) {
    const { code, stdout, stderr } = await home.perdure(["run", name, "--", "sh", "-c", 'printf %s "$PERDURE_NAME"']);
    const told = (): string =>
      `run ${JSON.stringify(name)} → ${code} ${JSON.stringify(stdout)} ${JSON.stringify(stderr)}`;
    if (code === 0 && stdout !== "" && stdout.toLowerCase() === name.toLowerCase()) counts.commandsRan++;
    else counts.commandsRefused++;
    // Words that are options to every verb are read as such; they start nothing either.
    const option = ["-h", "--help", "--json"].includes(name);
    const refused = [2, 3].includes(code) && stdout === "";
    check(isName(name) ? code === 0 : refused || option, told);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    check(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(stderr), told);
  }
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  check(
    workers.every(({ name }) => isName(name)),
    "ls shows a name that is none",
  );
  return counts;
}
