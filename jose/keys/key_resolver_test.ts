import { assert, assertEquals } from "@std/assert";
import { DEFAULT_LIMITS } from "@sig/core";
import { calculateKid, createKeyResolver } from "@sig/jose";
import { calculateKidOf } from "@sig/jose/internal";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testKey } from "../testdata/keys.ts";

// promise: Keys come from the issuer's key set alone; no header chooses a key
//   or an algorithm.

const a = (await testKey("a")).publicJwk;
const b = (await testKey("b")).publicJwk;
const withoutKid = { kty: "OKP", crv: "Ed25519", x: a.x };

Deno.test("resolves a key by its exact kid only", async () => {
  const kids = ["k", "__proto__", "constructor", "a b", "k".repeat(256)];
  const jwks = JSON.stringify({ keys: kids.map((kid) => ({ ...a, kid })) });
  const keys = await createKeyResolver(JSON.parse(jwks));
  assertEquals([...keys.keys.keys()], kids);
  for (const kid of kids) assertEquals(keys.resolve(kid).kid, kid);
  const others = ["", "K", "k ", "toString", "valueOf", "hasOwnProperty", "0"];
  for (const kid of [...others, "../k", "https://evil.example/k", "#k"]) {
    const error = await expectSigError(
      () => keys.resolve(kid),
      "key_not_found",
      `Cannot use key ${JSON.stringify(kid)}: the key set has no such key`,
    );
    assertEquals(error.context.kid, kid);
  }
});

Deno.test("a hostile kid is escaped and shortened", async () => {
  const keys = await createKeyResolver({ keys: [] });
  const kid = `\u001b[31m\n${"😀".repeat(20_000)}`;
  const error = await expectSigError(
    () => keys.resolve(kid),
    "key_not_found",
    '"\\u001b[31m\\n😀',
  );
  assert(error.message.length < 300);
  const shown = error.context.kid ?? "";
  assert(shown.length <= 256 && shown.isWellFormed());
});

Deno.test("skips the organisation's other keys", async () => {
  const other: readonly Readonly<Record<string, unknown>>[] = [
    withoutKid,
    { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "ec" },
    { kty: "RSA", n: "AA", e: "AQAB", kid: "rsa" },
    { kty: "AKP", alg: "ML-DSA-44", pub: "AA", kid: "akp" },
    { kid: "nothing" },
    { ...a, kty: 5, kid: "kty" },
    { ...a, crv: "X25519", kid: "x25519" },
    { ...a, crv: "Ed448", kid: "ed448" },
    { ...a, use: "enc", kid: "enc" },
    { ...a, use: null, kid: "null" },
    { ...a, alg: "ES256", kid: "es256" },
    { ...a, alg: "Ed25519", kid: "ed25519" },
    { ...a, key_ops: ["sign"], kid: "ops" },
    { ...a, key_ops: "verify", kid: "ops-text" },
    { ...a, kty: "EC", kid: "a" },
    { ...a, kty: "EC", kid: "a" },
  ];
  const keys = await createKeyResolver({ keys: [...other, a, b] });
  assertEquals([...keys.keys.keys()], ["a", "b"]);
  const error = await expectSigError(
    () => keys.resolve("enc"),
    "key_not_found",
    'Cannot use key "enc"',
  );
  assertEquals(
    error.context.hint,
    'The key set lists this kid, but skips it: its "use" is not sig.',
  );
});

Deno.test("rejects a key set with a private member at any position", async () => {
  const secrets: readonly Readonly<Record<string, unknown>>[] = [
    { ...a, d: "AAAA" },
    { ...a, d: null },
    { ...withoutKid, d: "AAAA" },
    { ...a, use: "enc", d: "AAAA" },
    { kty: "oct", kid: "h" },
    ...["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"].map((name) => ({
      ...{ kty: "RSA", n: "AA", e: "AQAB" },
      [name]: "AAAA",
    })),
  ];
  for (const secret of secrets) {
    for (const keys of [[secret], [a, secret], [secret, a, a]]) {
      const error = await expectSigError(
        () => createKeyResolver({ keys }),
        "private_key_in_jwks",
        "Cannot use key set: it publishes a secret (member ",
      );
      assert(!error.message.includes("AAAA"));
      assert(error.context.hint?.includes("no longer a secret"));
    }
  }
});

Deno.test("rejects a kid that is not a key identifier", async () => {
  for (const kid of ["", "a\nb", "k".repeat(257), 5, null]) {
    await expectSigError(
      () => createKeyResolver({ keys: [{ ...a, kid }] }),
      "invalid_key",
      "Cannot use key: kid must be a string of 1 to 256 characters, none of them a control character",
    );
  }
});

Deno.test("accepts 256 keys and rejects 257", async () => {
  const skipped = { kty: "EC", kid: "e" };
  const keys = Array.from({ length: 256 }, () => skipped);
  assertEquals((await createKeyResolver({ keys })).keys.size, 0);
  const error = await expectSigError(
    () => createKeyResolver({ keys: [...keys, a] }),
    "document_too_large",
    "Cannot use key set: it has 257 keys (at most 256)",
  );
  assertEquals(error.context.limit, 256);
  const limits = { ...DEFAULT_LIMITS, maxJwksKeys: 1 };
  await expectSigError(
    () => createKeyResolver({ keys: [a, b] }, { limits }),
    "document_too_large",
    "it has 2 keys (at most 1)",
  );
});

Deno.test("the keys of a set switch to the synchronous verifier together", async () => {
  const keys = await createKeyResolver({ keys: [a, b] });
  const signature = await (await testKey("b")).sign(new Uint8Array(1));
  for (let i = 0; i < 300; i++) {
    await keys.resolve("a").verify(signature, new Uint8Array(1));
  }
  assertEquals(keys.resolve("b").verify(signature, new Uint8Array(1)), true);
});

Deno.test("reuses a known key with the same kid and x", async () => {
  const jwks = { keys: [{ ...a, kid: "k" }, { ...b, kid: "other" }] };
  const { keys: known } = await createKeyResolver(jwks);
  const again = await createKeyResolver(jwks, { known });
  assertEquals([...again.keys.keys()], ["k", "other"]);
  for (const [kid, key] of again.keys) assert(key === known.get(kid), kid);

  const replaced = { keys: [{ ...b, kid: "k" }, { ...b, kid: "other" }] };
  const { keys } = await createKeyResolver(replaced, { known });
  assertEquals(keys.get("k")?.jwk.x, b.x);
  assert(keys.get("other") === known.get("other"));

  // The other members are checked for known keys too.
  const skipped = { keys: [{ ...a, kid: "k", use: "enc" }] };
  assertEquals((await createKeyResolver(skipped, { known })).keys.size, 0);
  await expectSigError(
    () => createKeyResolver({ keys: [{ ...a, kid: "k", d: a.x }] }, { known }),
    "private_key_in_jwks",
    "Cannot use key set: it publishes a secret",
  );
});

Deno.test("calculates the thumbprint of a key independently of its kid", async () => {
  const jwks = { keys: [{ ...a, kid: "k" }] };
  const key = (await createKeyResolver(jwks)).resolve("k");
  assertEquals(calculateKidOf(key), await calculateKid(a));
});
