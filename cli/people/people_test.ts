import { assertEquals, assertStringIncludes } from "@std/assert";
import { answered, enrolled, invited } from "../testdata/enrolment.ts";
import {
  assertRan,
  issuerTest as test,
  terminal,
} from "../testdata/workspace.ts";

const NAMES = "acme/.sig/people.csv";
const KEEP = "--yes --keep-name";

test("enrol saves the invited name only with --keep-name or after a confirmation", async (workspace) => {
  const said = `--for 'Alice "Al" Doe, née \u202eRoe'`;
  const answer = await answered(workspace, await invited(workspace, said));
  await enrolled(workspace, answer);
  assertEquals(await workspace.read(NAMES).catch(() => "none"), "none");
  const first =
    `subject,name\n${answer.subject},"Alice ""Al"" Doe, née \u202eRoe"\n`;
  // Repeating adds no second row.
  for (const _ of [1, 2]) {
    const { code, stderr } = await enrolled(workspace, answer, KEEP);
    assertEquals([code, stderr.includes("\u202e")], [0, false]);
    assertEquals(await workspace.read(NAMES), first);
  }
  assertEquals(await workspace.mode(NAMES), 0o600);
  const invitation = await invited(workspace, "--for Bob");
  const bob = await answered(workspace, invitation, "bob.jwk");
  await workspace.write("bob.json", JSON.stringify(bob));
  const given = terminal();
  await workspace.sig("enrol --dir $D/acme --answer $D/bob.json", given);
  assertEquals(given.asked, [
    "Publish this?",
    `Keep the name Bob in ${workspace.path(NAMES)}?`,
  ]);
  assertEquals(
    await workspace.read(NAMES),
    `${first}${bob.subject},Bob\n`,
  );
  assertStringIncludes(await workspace.ok("who $D/acme"), "Bob");
});

test("enrol asks every question before it appends, so that Ctrl-C publishes nothing", async (workspace) => {
  const invitation = await invited(workspace, "--for Alice");
  const answer = await answered(workspace, invitation);
  await workspace.write("a.json", JSON.stringify(answer));
  const lengths: number[] = [];
  const given = terminal(async () => {
    lengths.push((await workspace.events()).length);
    return true;
  });
  await workspace.says("enrol --dir $D/acme --answer $D/a.json", given);
  assertEquals(lengths, [3, 3]);
  assertEquals((await workspace.events()).length, 4);
});

test("enrol succeeds with a warning if the name cannot be saved", async (workspace) => {
  const invitation = await invited(workspace, "--for Alice");
  const answer = await answered(workspace, invitation);
  for (
    const [text, why] of [
      [
        `subject,name\n${answer.subject},Eve\n`,
        "another person or name for",
      ],
      ["nonsense\n", "it has no column subject"],
    ] as const
  ) {
    await workspace.write(NAMES, text);
    assertRan(await enrolled(workspace, answer, KEEP), {
      err: ["warning: ", why],
    });
    assertEquals(await workspace.read(NAMES), text);
  }
  await workspace.write(NAMES, "subject,name");
  await enrolled(workspace, answer, KEEP);
  assertEquals(
    await workspace.read(NAMES),
    `subject,name\n${answer.subject},Alice\n`,
  );
});
