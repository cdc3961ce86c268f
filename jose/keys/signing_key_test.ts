import { assert, assertEquals, assertRejects } from "@std/assert";
import { calculateKid, generateSigningKey, importSigningKey } from "@sig/jose";
import { toPublicJwk } from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testJwk } from "../testdata/keys.ts";

const jwk = await testJwk("a");

Deno.test("a generated key imports, and its kid is the thumbprint or the given one", async () => {
  const fresh = await generateSigningKey();
  assertEquals(Object.keys(fresh), [
    ...["kty", "crv", "x", "kid", "use", "alg", "d"],
  ]);
  assertEquals(fresh.kid, await calculateKid(fresh));
  assertEquals((await importSigningKey(fresh)).kid, fresh.kid);
  assert(fresh.d !== (await generateSigningKey()).d);
  const named = await generateSigningKey({ kid: "orgsign-1" });
  assertEquals(named.kid, "orgsign-1");
  for (const kid of ["", "a\n", "k".repeat(257)]) {
    await assertRejects(
      () => generateSigningKey({ kid }),
      RangeError,
      "Cannot generate key: kid must be 1 to 256 characters",
    );
  }
});

Deno.test("the default kid of a key is its thumbprint", async () => {
  const { kid: _, ...nameless } = jwk;
  const key = await importSigningKey(nameless);
  assertEquals(key.kid, await calculateKid(jwk));
  assertEquals(key.publicJwk.kid, key.kid);
});

Deno.test("the published part has exactly six members", async () => {
  const { d: _, ...rest } = jwk;
  const expected = { ...rest, use: "sig", alg: "EdDSA" };
  const key = await importSigningKey({ ...jwk, ext: true, key_ops: ["sign"] });
  assertEquals(key.publicJwk, expected);
  assert(Object.isFrozen(key.publicJwk));
  assertEquals(toPublicJwk(jwk), expected);
  const { kid: _kid, ...nameless } = expected;
  assertEquals(toPublicJwk(nameless), nameless);
  await expectSigError(
    () => toPublicJwk({ ...jwk, kid: "" }),
    "invalid_key",
    "Cannot use key: kid must be 1 to 256 characters",
  );
});

Deno.test("JSON, console output and export never show the private part", async () => {
  const key = await importSigningKey(jwk);
  const views = [
    JSON.stringify(key),
    Deno.inspect(key, { showHidden: true, depth: 9 }),
    String(key),
    JSON.stringify(Object.getOwnPropertyNames(key)),
    JSON.stringify({ ...key }),
  ];
  for (const view of views) {
    assert(!view.includes(jwk.d) && !/\bd\b/.test(view), view);
  }
  assert(!("d" in key));
});

Deno.test("a changed bit in x or d fails the self-test", async () => {
  const other = await testJwk("b");
  const flip = (text: string, at: number) =>
    text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
  const bad = [{ ...jwk, x: other.x }, { ...jwk, d: other.d }];
  for (let at = 0; at < 42; at++) bad.push({ ...jwk, d: flip(jwk.d, at) });
  for (const wrong of bad) {
    const error = await expectSigError(
      () => importSigningKey(wrong),
      "invalid_key",
      "Cannot use key: x is not the public key of d",
    );
    assertEquals(error.context.kid, "a");
  }
  for (let at = 0; at < 42; at++) {
    await expectSigError(
      () => importSigningKey({ ...jwk, x: flip(jwk.x, at) }),
      "invalid_key",
      "Cannot use key: x is not ",
    );
  }
});

Deno.test("rejects anything but a private Ed25519 key without showing it", async () => {
  const { d: _, ...publicJwk } = jwk;
  const cases: readonly (readonly [unknown, string])[] = [
    [null, "it must be a JWK object"],
    [publicJwk, "member d must be a string"],
    [{ ...jwk, d: `${jwk.d}=` }, "d must be base64url without padding"],
    [{ ...jwk, d: "AAAA" }, "d has 3 bytes (expected 32)"],
    [{ ...jwk, d: jwk.d + "AAAA" }, "expected 32"],
    [{ ...jwk, kty: "EC" }, 'it must have "kty" OKP'],
    [
      { ...jwk, x: "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
      "small order",
    ],
    [{ ...jwk, kid: "a\u0007" }, "kid must be 1 to 256 characters"],
    [{ ...jwk, use: "enc" }, "use must be sig"],
    [{ ...jwk, alg: "ES256" }, "alg must be EdDSA"],
    [{ ...jwk, key_ops: ["verify"] }, "key_ops must contain sign"],
  ];
  for (const [wrong, says] of cases) {
    const error = await expectSigError(
      () => importSigningKey(wrong),
      "invalid_key",
      says,
    );
    assert(!`${error.message}${JSON.stringify(error.context)}`.includes(jwk.d));
    assertEquals(error.cause, undefined);
  }
});

Deno.test("accepts a key as exported by a browser", async () => {
  const exported = { ...jwk, alg: "Ed25519", ext: true, key_ops: ["sign"] };
  assertEquals((await importSigningKey(exported)).publicJwk.alg, "EdDSA");
});
