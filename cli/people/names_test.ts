import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { answered, enrolled, invited } from "../testdata/enrolment.ts";
import { createDenoIo } from "../terminal/deno_io.ts";
import { withIssuer } from "../testdata/workspace.ts";

const NAMES = "acme/.sig/names.csv";

Deno.test("a name is kept where it is wanted, and nowhere else", () =>
  withIssuer(async (workspace) => {
    const names = () => Deno.readTextFile(workspace.path(NAMES));
    const said = ["--for", 'Alice "Al" Doe, née \u202eRoe'];
    const answer = await answered(workspace, await invited(workspace, said));
    await enrolled(workspace, answer);
    assertEquals(await names().catch(() => "none"), "none");
    const kept = await enrolled(workspace, answer, ["--yes", "--keep-name"]);
    assertEquals(kept.code, 0);
    assert(!kept.stderr.includes("\u202e"));
    const first =
      `subject,name\n"${answer.subject}","Alice ""Al"" Doe, née \u202eRoe"\n`;
    assertEquals(await names(), first);
    const { mode } = await Deno.stat(workspace.path(NAMES));
    assertEquals(mode! & 0o777, 0o600);
    // Repeated, it is there once; a second one is added.
    await enrolled(workspace, answer, ["--yes", "--keep-name"]);
    assertEquals(await names(), first);
    const bob = await answered(
      workspace,
      await invited(workspace, ["--for", "Bob"]),
      "bob.jwk",
    );
    const questions: string[] = [];
    await Deno.writeTextFile(workspace.path("bob.json"), JSON.stringify(bob));
    await workspace.sig(
      ["enrol", "--dir", "$D/acme", "--answer", "$D/bob.json"],
      {
        terminals: ["stdin", "stdout"],
        io: { ask: (question) => questions.push(question) > 0 },
      },
    );
    assertEquals(questions.map((each) => each.slice(0, 17)), [
      "Publish this?",
      "Keep the name Bob",
    ]);
    assertEquals(await names(), `${first}"${bob.subject}","Bob"\n`);
    const { stdout } = await workspace.sig(["who", "$D/acme"]);
    assertStringIncludes(stdout, "Bob");
  }));

Deno.test("a name that can't be kept spoils no enrolment, and no file", () =>
  withIssuer(async (workspace) => {
    const answer = await answered(
      workspace,
      await invited(workspace, ["--for", "Alice"]),
    );
    const keep = ["--yes", "--keep-name"];
    const files: readonly (readonly [string, string])[] = [
      ["name;subject\n", "its first row is not subject,name"],
      [
        `subject,name\n${answer.subject},Eve\n`,
        "another name for this subject",
      ],
      ["nonsense\n", "must have the columns subject and name"],
    ];
    for (const [text, why] of files) {
      await Deno.writeTextFile(workspace.path(NAMES), text);
      const { code, stderr } = await enrolled(workspace, answer, keep);
      assertEquals(code, 0);
      assertStringIncludes(stderr, "warning: the name was not saved: ");
      assertStringIncludes(stderr, why);
      assertEquals(await Deno.readTextFile(workspace.path(NAMES)), text);
    }
    await Deno.writeTextFile(workspace.path(NAMES), "subject,name");
    await enrolled(workspace, answer, keep);
    assertEquals(
      await Deno.readTextFile(workspace.path(NAMES)),
      `subject,name\n"${answer.subject}","Alice"\n`,
    );
  }));

Deno.test("a file that is added to is made for its owner alone", async () => {
  const dir = await Deno.makeTempDir();
  const io = createDenoIo();
  await io.appendFile(`${dir}/a`, "1");
  await io.appendFile(`${dir}/a`, "2");
  assertEquals(await Deno.readTextFile(`${dir}/a`), "12");
  assertEquals((await Deno.stat(`${dir}/a`)).mode! & 0o777, 0o600);
  await Deno.remove(dir, { recursive: true });
});
