import { assert, assertEquals, assertStringIncludes } from "@std/assert";
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

async function seedOf(workspace: Workspace, name: string): Promise<string> {
  const { d } = JSON.parse(await Deno.readTextFile(workspace.path(name)));
  const bytes = Uint8Array.fromBase64(d, { alphabet: "base64url" });
  return bytes.toHex();
}

Deno.test("the peer's --seed-hex signs, warns, and is never shown", async () => {
  await withIssuer(async (workspace) => {
    const seed = await seedOf(workspace, STORED);
    const env = { SIG_KEYS_DIR: workspace.path("empty") };
    for (const kid of [[], ["--kid", "orgsign-1"]]) {
      const words = ["append-upsert", ...APPEND, ...kid, "--seed-hex", seed];
      const ran = await workspace.sig(words, { env });
      assertEquals(ran.code, 0, ran.stderr);
      assertStringIncludes(ran.stderr, "warning: --seed-hex: a secret on a");
      assert(!(ran.stdout + ran.stderr).includes(seed));
      const json = await workspace.sig([...words, "--format", "json"], { env });
      assertEquals([json.code, json.stderr], [0, ""]);
      assertEquals(await lastKid(workspace), "orgsign-1");
    }
  });
});

Deno.test("a seed is in no refusal", async () => {
  await withIssuer(async (workspace) => {
    const seed = "0123456789abcdef".repeat(4);
    const cases: readonly (readonly [string[], string])[] = [
      [["--seed-hex", seed], "error: signing_key_not_found"],
      [["--seed-hex", seed, "--kid", "orgsign-1"], "error: invalid_key"],
      [["--seed-hex", `${seed}0`], "error: invalid_request"],
      [["--seed-hex", seed, "--seed-hex", seed], "--seed-hex is given twice"],
      [["--seed-hx", seed], "Did you mean --seed-hex?"],
      [[`--seed-hx=${seed}`], "Did you mean --seed-hex?"],
      [["--seed-hex", seed, "--key", "$D/x.jwk"], "both name the key"],
    ];
    const before = await workspace.snapshot();
    for (const [flags, message] of cases) {
      const words = ["append-upsert", ...APPEND, ...flags];
      const { code, stdout, stderr } = await workspace.sig(words);
      assertEquals([code, stdout], [2, ""]);
      assertStringIncludes(stderr, message);
      assert(!stderr.includes(seed), message);
    }
    assertEquals(await workspace.snapshot(), before);
  });
});

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
