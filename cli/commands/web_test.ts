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
      'invalid_request: Cannot add application: there is already a client_id "wiki"',
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

Deno.test("web client add has a flag for each member; list, remove and rotate-secret change what they say", async () => {
  await inWorkspace(async ({ dir: cwd }) => {
    const options = { cwd, permissions: ["--allow-read", "--allow-write"] };
    const client = (...words: readonly string[]) =>
      sig(["web", "client", ...words, "--file", "c.json"], options);
    const entries = async () =>
      JSON.parse(await Deno.readTextFile(`${cwd}/c.json`)).clients;
    const members = [
      ...["--name", "Wiki", "--alg", "EdDSA", "--refresh", "--no-pkce"],
      ...["--require", "role=ops", "--require", "role=wiki"],
      ...["--post-logout-redirect-uri", "https://wiki.acme.example/bye"],
      ...["--backchannel-logout-uri", "https://wiki.acme.example/logout"],
    ];
    await sig([...ADD, ...URI, ...members], options);
    const [{ client_secret_sha256: before, ...entry }] = await entries();
    assertEquals(entry, {
      client_id: "wiki",
      client_name: "Wiki",
      redirect_uris: ["https://wiki.acme.example/callback"],
      post_logout_redirect_uris: ["https://wiki.acme.example/bye"],
      backchannel_logout_uri: "https://wiki.acme.example/logout",
      refresh: true,
      id_token_signed_response_alg: "EdDSA",
      require: ["role=ops", "role=wiki"],
      pkce: false,
    });
    const listed = await client("list");
    assertEquals([listed.code, listed.stderr], [0, ""]);
    assertStringIncludes(listed.stdout, "wiki");
    assertStringIncludes(listed.stdout, "https://wiki.acme.example/callback");
    const { clients } = JSON.parse(
      (await client("list", "--format", "json")).stdout,
    );
    assertEquals(clients, [{
      client_id: "wiki",
      client_name: "Wiki",
      auth_methods: ["client_secret_basic", "client_secret_post"],
      redirect_uris: ["https://wiki.acme.example/callback"],
      refresh: true,
      pkce: false,
    }]);
    const rotated = await client("rotate-secret", "--id", "wiki");
    assertStringIncludes(rotated.stdout, "client_secret: ");
    const [after] = await entries();
    assert(after.client_secret_sha256 !== before);
    assertEquals(after.client_name, "Wiki");
    const unknown = await client("remove", "--id", "shop");
    assertEquals(unknown.code, 2);
    assertStringIncludes(unknown.stderr, 'unknown client_id "shop"');
    assertEquals((await client("remove", "--id", "wiki")).code, 0);
    assertEquals(await entries(), []);
    assertEquals((await client("list")).stdout, "no applications\n");
    const missing = await sig(
      ["web", "client", "list", "--file", "none.json"],
      options,
    );
    assertEquals(missing.code, 2);
    assertStringIncludes(missing.stderr, "source_not_found");
  });
});

Deno.test("words and flags of web client add are asked for, and are for nothing else", async () => {
  await inWorkspace(async ({ dir: cwd }) => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [ADD, "--redirect-uri is required"],
      [["web", "client", "add", ...URI], "--file is required"],
      [
        ["web", "client"],
        "sig web client needs one of add, list, remove, rotate-secret",
      ],
      [["web", "client", "ad"], "Did you mean web client add?"],
      [["web", "client", "remove"], "--file is required"],
      [["web", "--redirect-uri", "wiki"], 'there is no flag "--redirect-uri"'],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await sig(args, { cwd, permissions: [] });
      assertEquals(code, 2);
      assertStringIncludes(stderr, says);
    }
  });
});
