import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sig } from "../testdata/process.ts";
import { inWorkspace } from "../testdata/workspace.ts";

const ADD = ["web", "client", "add", "--file", "c.json", "--id", "wiki"];
const URI = ["--redirect-uri", "https://wiki.acme.example/callback"];

Deno.test("web client add writes an entry that only its owner reads, and shows the secret once", async () => {
  await inWorkspace(async ({ dir: cwd }) => {
    const permissions = ["--allow-read", "--allow-write"];
    const options = { cwd, permissions };
    const added = await sig([...ADD, ...URI, "--format", "json"], options);
    assertEquals([added.code, added.stderr], [0, ""]);
    const { client_id, client_secret } = JSON.parse(added.stdout);
    assertEquals(client_id, "wiki");
    const text = await Deno.readTextFile(`${cwd}/c.json`);
    assert(!text.includes(client_secret));
    const { mode } = await Deno.stat(`${cwd}/c.json`);
    if (mode !== null) assertEquals(mode & 0o777, 0o600);
    assertEquals(
      [...Deno.readDirSync(cwd)].filter(({ name }) => name.endsWith(".tmp")),
      [],
    );

    const twin = await sig([...ADD, ...URI], options);
    assertEquals([twin.code, twin.stdout], [2, ""]);
    assertStringIncludes(
      twin.stderr,
      'invalid_request: Cannot add application: there is one of the id "wiki"',
    );
    const wrong = await sig(
      [...ADD.with(-1, "x"), "--redirect-uri", "http://wiki.example"],
      options,
    );
    assertEquals(wrong.code, 2);
    assertStringIncludes(wrong.stderr, "/clients/1/redirect_uris/0");
    assertStringIncludes(wrong.stderr, "(at flag --file)");
    assertStringIncludes(wrong.stderr, "hint: Nothing was written.");
    assertEquals(await Deno.readTextFile(`${cwd}/c.json`), text);
  });
});

Deno.test("words and flags of web client add are asked for, and are for nothing else", async () => {
  await inWorkspace(async ({ dir: cwd }) => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [ADD, "--redirect-uri is required"],
      [["web", "client", "add", ...URI], "--file is required"],
      [["web", "client"], "sig web client needs one of add"],
      [["web", "client", "ad"], "Did you mean web client add?"],
      [["web", "--redirect-uri", "wiki"], 'there is no flag "--redirect-uri"'],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await sig(args, { cwd, permissions: [] });
      assertEquals(code, 2);
      assertStringIncludes(stderr, says);
    }
  });
});
