import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { generateProviderKeys, readProviderKeys } from "./keys.ts";
import { testKeysText } from "./testdata/test_provider.ts";

Deno.test("publishes only public members, with thumbprints as kids, and keeps old keys", async () => {
  const text = await testKeysText();
  const keys = await readProviderKeys(text);
  for (const key of keys.jwks.keys) {
    for (const secret of ["d", "p", "q", "dp", "dq", "qi"]) {
      assertEquals(key[secret], undefined);
    }
    assert(/^[A-Za-z0-9_-]{43}$/.test(String(key.kid)));
    assertEquals(key.use, "sig");
  }
  const newer = JSON.parse(await generateProviderKeys());
  const both = await readProviderKeys(
    JSON.stringify({ keys: [...newer.keys, ...JSON.parse(text).keys] }),
  );
  assertEquals(both.jwks.keys.length, 6);
  // Each seals with its own, newest first, and reads those of all.
  const other = await readProviderKeys(JSON.stringify(newer));
  assertEquals(both.macsOf("x"), [...other.macsOf("x"), ...keys.macsOf("x")]);
  assertNotEquals(other.macsOf("x"), keys.macsOf("x"));
  assertEquals(both.jwks.keys.slice(3), keys.jwks.keys);
  for (const [i, alg] of (["RS256", "ES256", "EdDSA"] as const).entries()) {
    const token = await both.sign({ alg, typ: "JWT" }, {});
    assertEquals(decodeProtectedHeader(token).kid, both.jwks.keys[i]!.kid);
  }
});

Deno.test("rejects unusable keys without showing them", async (t) => {
  const { keys } = JSON.parse(await testKeysText());
  const [rsa, ec, ed] = keys;
  const other = await generateKeyPair("EdDSA");
  const { x } = await exportJWK(other.publicKey);
  const { privateKey } = await crypto.subtle.generateKey(
    {
      ...{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 1024 },
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    true,
    ["sign", "verify"],
  );
  const short = { ...await exportJWK(privateKey), alg: "RS256" };
  const cases: readonly (readonly [string, unknown, string])[] = [
    ["no JSON", "{", "the file is not JSON"],
    ["another shape", { rsa }, 'the file must be {"keys":[…]}'],
    ["one missing", { keys: [rsa, ec] }, "there is no EdDSA key"],
    ["another algorithm", {
      keys: [{ ...rsa, alg: "HS256" }, ec, ed],
    }, "/keys/0: its alg must be RS256, ES256, EdDSA"],
    ["a public one", {
      keys: [rsa, { ...ec, d: undefined }, ed],
    }, "/keys/1: it is not a private key"],
    ["RSA of 1024 bits", {
      keys: [short, ec, ed],
    }, "/keys/0: it can't sign by RS256: too short, or its halves"],
    ["halves of two pairs", {
      keys: [rsa, ec, { ...ed, x }],
    }, "/keys/2: it can't sign by EdDSA: too short, or its halves"],
    ["another algorithm's", {
      keys: [rsa, ec, { ...rsa, alg: "EdDSA" }],
    }, "/keys/2: it is not a key for EdDSA"],
    ["a shared secret", {
      keys: [{ kty: "oct", k: "AAAA", alg: "RS256" }, ec, ed],
    }, "/keys/0: it is not a key for RS256"],
    ["an invalid one", {
      keys: [rsa, ec, { ...ed, d: "secret" }],
    }, "/keys/2: it is not a key for EdDSA"],
  ];
  for (const [name, value, says] of cases) {
    await t.step(name, async () => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const error = await expectSigError(
        () => readProviderKeys(text),
        "invalid_key",
        `Cannot use keys of the OpenID Provider: ${says}`,
      );
      assert(!String(error.cause ?? "").includes("secret"));
      assert(!JSON.stringify(error).includes(ed.d));
    });
  }
});
