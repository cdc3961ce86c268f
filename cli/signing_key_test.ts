import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  inWorkspace,
  withIssuer,
  type Workspace,
} from "./testdata/workspace.ts";

const STORED = "keys/acme.example/orgsign-1.jwk";
const APPEND = [
  ...["--dir", "$D/acme", "--subject", "did:web:c.example"],
  ...["--type", "other"],
];

/** The last event's kid, from a report on the whole feed. */
async function lastKid(workspace: Workspace): Promise<string> {
  const { code, stdout } = await workspace.sig(
    ["verify", "$D/acme", "--format", "json"],
  );
  assertEquals(code, 0, stdout);
  const { keys, last_sequence } = JSON.parse(stdout);
  return keys.find((key: { last_sequence: number }) =>
    key.last_sequence === last_sequence
  ).kid;
}

Deno.test("a key file signs under the kid it is published with, whatever it says", async () => {
  await inWorkspace(async (workspace) => {
    // Its own kid is its thumbprint.
    await workspace.sig(["key", "generate", "--out", "$D/k.jwk"]);
    const init = ["init", "acme.example", "--dir", "$D/acme"];
    await workspace.sig([...init, "--key", "$D/k.jwk", "--kid", "first"]);
    const ran = await workspace.sig(["upsert", ...APPEND, "--key", "$D/k.jwk"]);
    assertEquals([ran.code, ran.stderr], [0, ""]);
    assertEquals(await lastKid(workspace), "first");
  });
});

Deno.test("--kid chooses among the keys of the store; else the newest signs", async () => {
  await withIssuer(async (workspace) => {
    await workspace.sig(["rotate-key", "--dir", "$D/acme", "--kid", "next"]);
    await workspace.sig(["upsert", ...APPEND]);
    assertEquals(await lastKid(workspace), "next");
    await workspace.sig(["upsert", ...APPEND, "--kid", "orgsign-1"]);
    assertEquals(await lastKid(workspace), "orgsign-1");
    // Whose private part is not here can't sign.
    await Deno.remove(workspace.path("keys/acme.example/next.jwk"));
    await workspace.sig(["upsert", ...APPEND]);
    assertEquals(await lastKid(workspace), "orgsign-1");
  });
});

Deno.test("a rotation says when SIG_KEY_FILE keeps the old key signing", async () => {
  await withIssuer(async (workspace) => {
    const env = { SIG_KEY_FILE: workspace.path(STORED) };
    const { code, stderr } = await workspace.sig(
      ["rotate-key", "--dir", "$D/acme", "--kid", "next"],
      { env },
    );
    assertEquals(code, 0);
    assertStringIncludes(stderr, "warning: SIG_KEY_FILE still names another");
    await workspace.sig(["upsert", ...APPEND], { env });
    assertEquals(await lastKid(workspace), "orgsign-1");
  });
});
