import { expect, it } from "vitest";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { mailHomes } from "../../daemon/mail/mail-home.ts";

const mailHome = mailHomes();

it("a question that was read and not answered is seen in ls, in mail and, by the one who asked, in pending", async () => {
  const mail = await mailHome("coder", "other");
  await mail.send("coder", "a note", { id: "plain" });
  await mail.send("coder", "when is it done?", { id: "asked", expectsReply: true });
  expect((await mail.home.perdure(["pending"])).stdout).toMatch(
    /^asked {2}you wait for api\/coder {2}\S+ ago, queued\n/,
  );
  await mail.runInside("coder", `${mail.perdure} inbox`);
  await mail.until("asked", "read");
  await mail.send("other", "still on its way", { id: "later" });

  const { stdout } = await mail.home.perdure(["mail"]);
  expect(stdout).toMatch(/^asked +read, to answer +operator +api\/coder .*when is it done\?$/m);
  expect(stdout).toMatch(/^later +queued /m);
  expect(stdout).not.toContain("a note");
  expect((await mail.home.perdure(["ls"])).stdout).toMatch(/^coder .* 1 to answer/m);

  const pending = await mail.home.perdure(["pending"]);
  expect(pending.stdout).toMatch(/^asked {2}you wait for api\/coder {2}\S+ ago, has read it\n {2}when is it done\?\n$/);
  expect(pending.stderr).toBe("Nobody is waiting for a reply of yours.\n");
  const { asked } = await mail.home.json<{ asked: MessageRecord[] }>(["pending"]);
  expect(asked.map(({ id }) => id)).toEqual(["asked"]);

  const mine = await mail.home.perdure(["reply", "asked", "Friday"]);
  expect(mine).toMatchObject({ code: 5 });
  expect(mine.stderr).toContain("asked was sent to api/coder, not to operator: api/coder has to reply.");
  await mail.runInside("coder", `${mail.perdure} reply asked Friday`);
  expect((await mail.home.perdure(["mail"])).stdout).not.toContain("when is it done?");
  expect((await mail.home.perdure(["pending"])).stderr).toBe("Nobody is waiting for a reply.\n");
});
