import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { tempFolder } from "../../tests/kit/process.ts";
import { startServer } from "./testdata/server.ts";

const ENTRY = {
  client_id: "app",
  client_secret_sha256: "A".repeat(43),
  redirect_uris: ["https://app.example/cb"],
};

function inFolder(work: (dir: string) => Promise<void>): () => Promise<void> {
  return async () => {
    await using folder = await tempFolder();
    await work(folder.path);
  };
}

async function writeClients(dir: string, clients: unknown): Promise<void> {
  await Deno.writeTextFile(`${dir}/c.json`, JSON.stringify({ clients }));
}

Deno.test({
  name:
    "creates keys once, readable by their owner only; SIGHUP reads applications again and ignores an invalid file",
  ignore: Deno.build.os === "windows",
  fn: inFolder(async (dir) => {
    await writeClients(dir, [ENTRY]);
    const kids = async (url: string) => {
      const { keys } = await (await fetch(`${url}/oidc/jwks`)).json();
      return keys.map(({ kid }: { kid: string }) => kid);
    };
    const knows = async (url: string, id: string) => {
      const response = await fetch(
        `${url}/oidc/authorize?client_id=${id}&redirect_uri=https://app.example/cb`,
        { redirect: "manual" },
      );
      await response.body?.cancel();
      return response.status === 303;
    };
    const args = [
      "--demo",
      "--oidc-clients",
      "c.json",
      "--oidc-keys",
      "k.json",
    ];
    const first = await startServer(dir, args);
    const made = await kids(first.url);
    assertEquals((await Deno.stat(`${dir}/k.json`)).mode! & 0o777, 0o600);
    assertEquals(await knows(first.url, "app"), true);
    assertEquals(await knows(first.url, "new"), false);
    await writeClients(dir, [ENTRY, { ...ENTRY, client_id: "new" }]);
    first.hangUp();
    await first.said("read 2 applications again");
    assertEquals(await knows(first.url, "new"), true);
    await writeClients(dir, [{ ...ENTRY, client_id: "" }]);
    first.hangUp();
    await first.said("the applications stay as they were");
    await first.said("/clients/0/client_id: it must be letters");
    assertEquals(await knows(first.url, "new"), true);
    await writeClients(dir, [ENTRY]);
    await first.stop();
    const second = await startServer(dir, args);
    assertEquals(await kids(second.url), made);
    await second.stop();
  }),
});

Deno.test({
  name: "an invalid file or incompatible flags prevent the start",
  fn: inFolder(async (dir) => {
    await writeClients(dir, [{ ...ENTRY, redirect_uris: ["http://x"] }]);
    const cases: readonly (readonly [string[], string])[] = [
      [
        ["--demo", "--oidc-clients", "c.json", "--oidc-keys", "k.json"],
        "invalid_request: Cannot use file of applications: /clients/0/redirect_uris/0: it must be an https URL",
      ],
      [["--demo", "--oidc-clients", "no.json"], "source_not_found"],
      [["--session", "1h"], "--session needs --oidc-clients"],
      [
        ["--demo", "--oidc-clients", "c.json", "--recheck", "10ms"],
        "--recheck must be at least 1s",
      ],
      [
        ["--demo", "--oidc-clients", "c.json", "--session", "1s"],
        "--session must be from 1m to 30d",
      ],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await startServer.fails(dir, args);
      assertEquals(code, 2);
      assertStringIncludes(stderr, says);
    }
    await writeClients(dir, [ENTRY]);
    const { stderr } = await startServer.fails(dir, [
      ...["--oidc-clients", "c.json", "--oidc-keys", "k.json"],
    ]);
    assertStringIncludes(
      stderr,
      "Cannot be an OpenID Provider: requirements are missing",
    );
    await Deno.writeTextFile(`${dir}/bad.json`, '{"keys":[]}');
    const bad = await startServer.fails(dir, [
      ...["--demo", "--oidc-clients", "c.json", "--oidc-keys", "bad.json"],
    ]);
    assertStringIncludes(bad.stderr, "invalid_key");
    assert(!bad.stderr.includes("at file:"));
  }),
});
