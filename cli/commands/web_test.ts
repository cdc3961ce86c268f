import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sig } from "../testdata/process.ts";
import { inWorkspace, workspaceTest as test } from "../testdata/workspace.ts";

const CLIENT = "web client";
const ADD = "web client add --file $D/c.json --id wiki --redirect-uri";
const CALLBACK = "https://wiki.acme.example/callback";

Deno.test("web client add needs only file permissions, and shows the secret once", async () => {
  await inWorkspace(async (workspace) => {
    const permissions = ["--allow-read", "--allow-write"];
    const words = [...ADD.replace("$D/", "").split(" "), CALLBACK];
    const added = await sig([...words, "--format", "json"], {
      ...{ cwd: workspace.dir, permissions },
    });
    assertEquals([added.code, added.stderr], [0, ""]);
    const { client_id, client_secret } = JSON.parse(added.stdout);
    assertEquals(client_id, "wiki");
    assert(!(await workspace.read("c.json")).includes(client_secret));
    assertEquals(await workspace.mode("c.json"), 0o600);
    assertEquals(
      [...Deno.readDirSync(workspace.dir)].map(({ name }) => name),
      ["c.json"],
    );
  });
});

test("web client add has a flag for each member, and list, remove and rotate-secret work", async (workspace) => {
  const entries = async () =>
    JSON.parse(await workspace.read("c.json")).clients;
  const list = `${CLIENT} list --file $D/c.json`;
  await workspace.refused(list, "source_not_found");
  await workspace.sig(
    `${ADD} ${CALLBACK} --name Wiki --alg EdDSA --refresh --no-pkce --require role=ops --require role=wiki --post-logout-redirect-uri https://wiki.acme.example/bye --backchannel-logout-uri https://wiki.acme.example/logout`,
  );
  const [{ client_secret_sha256: before, ...entry }] = await entries();
  assertEquals(entry, {
    client_id: "wiki",
    client_name: "Wiki",
    redirect_uris: [CALLBACK],
    post_logout_redirect_uris: ["https://wiki.acme.example/bye"],
    backchannel_logout_uri: "https://wiki.acme.example/logout",
    refresh: true,
    id_token_signed_response_alg: "EdDSA",
    require: ["role=ops", "role=wiki"],
    pkce: false,
  });
  await workspace.refused(
    `${ADD.replace("--id wiki", "--id x")} http://wiki.example`,
    [
      "/clients/1/redirect_uris/0",
      "(at flag --file)",
      "hint: Nothing was written.",
    ],
  );
  const listed = await workspace.ok(list);
  assertStringIncludes(listed, "wiki");
  assertStringIncludes(listed, CALLBACK);
  assertEquals(await workspace.json(list), {
    clients: [{
      client_id: "wiki",
      client_name: "Wiki",
      auth_methods: ["client_secret_basic", "client_secret_post"],
      redirect_uris: [CALLBACK],
      refresh: true,
      pkce: false,
    }],
  });
  const [unchanged] = await entries();
  const set = `${CLIENT} set --file $D/c.json --id wiki`;
  assertEquals(
    await workspace.ok(
      `${set} --pkce yes --refresh no --name Handbook --require role=wiki --unset backchannel_logout_uri`,
    ),
    "Changed wiki\n",
  );
  const { backchannel_logout_uri: _, ...kept } = unchanged;
  assertEquals(await entries(), [{
    ...kept,
    client_name: "Handbook",
    refresh: false,
    require: ["role=wiki"],
    pkce: true,
  }]);
  await workspace.refused(set, "no change was given");
  await workspace.refused(`${set} --unset pkce`, "--unset must be");
  await workspace.refused(
    `${set.replace("wiki", "shop")} --pkce no`,
    'unknown client_id "shop"',
  );
  await workspace.refused(`${set} --redirect-uri http://wiki.example`, [
    "/clients/0/redirect_uris/0",
    "hint: Nothing was written.",
  ]);
  await workspace.ok(`${set} --name Wiki`);
  const rotated = await workspace.sig(
    `${CLIENT} rotate-secret --file $D/c.json --id wiki`,
  );
  assertStringIncludes(rotated.stdout, "client_secret: ");
  const [after] = await entries();
  assert(after.client_secret_sha256 !== before);
  assertEquals(after.client_name, "Wiki");
  const remove = `${CLIENT} remove --file $D/c.json --id`;
  await workspace.refused(`${remove} shop`, 'unknown client_id "shop"');
  await workspace.ok(`${remove} wiki`);
  assertEquals(await entries(), []);
  assertEquals(await workspace.ok(list), "no applications\n");
});

test("sig web refuses unknown arguments and flags", async (workspace) => {
  for (
    const [words, says] of [
      [ADD.replace(" --redirect-uri", ""), "--redirect-uri is required"],
      [`web client add --redirect-uri ${CALLBACK}`, "--file is required"],
      [
        "web client",
        "sig web client needs one of add, list, set, remove, rotate-secret",
      ],
      ["web client ad", "Did you mean web client add?"],
      ["web client remove", "--file is required"],
      ["web --redirect-uri wiki", 'there is no flag "--redirect-uri"'],
    ] as const
  ) await workspace.refused(words, says);
});
