import { assertEquals, assertRejects } from "@std/assert";
import { FlattenedSign, flattenedVerify, importJWK } from "jose";
import { decodeBase64UrlStrict, parseFeedLine } from "@sig/core";
import { importSigningKey, signEvent } from "@sig/jose";
import { signJws } from "./sign_jws.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { jwkOfSeed, testJwk, testKey } from "../testdata/keys.ts";
import { readJsonVectors, vectorTest } from "../testdata/vectors.ts";

const EVENT = {
  sequence: 1,
  subject: "did:web:é.example",
  nested: { b: 1, a: [] },
};

Deno.test("jose signs the same bytes and verifies ours", async () => {
  const { kty, crv, x, d } = await testJwk("a");
  const envelope = await signEvent(EVENT, await testKey("a"));
  const theirs = await new FlattenedSign(
    new TextEncoder().encode(JSON.stringify(EVENT)),
  )
    .setProtectedHeader({ alg: "EdDSA", kid: "a", typ: "sig-event+jws" })
    .sign(await importJWK({ kty, crv, x, d }, "EdDSA"));
  assertEquals<unknown>({ ...envelope }, { ...theirs });
  const verified = await flattenedVerify(
    { ...envelope },
    await importJWK({ kty, crv, x }, "EdDSA"),
  );
  assertEquals(
    new TextDecoder().decode(verified.payload),
    JSON.stringify(EVENT),
  );
});

Deno.test("the same event and key give the same bytes, in the same order", async () => {
  const key = await testKey("a");
  const [first, second] = [
    await signEvent(EVENT, key),
    await signEvent(EVENT, key),
  ];
  assertEquals(JSON.stringify(first), JSON.stringify(second));
  assertEquals(Object.keys(first), ["protected", "payload", "signature"]);
  const { header, payload } = parseFeedLine(JSON.stringify(first));
  assertEquals(header, { alg: "EdDSA", kid: "a", typ: "sig-event+jws" });
  assertEquals(new TextDecoder().decode(payload), JSON.stringify(EVENT));
});

Deno.test("only an object is signed", async () => {
  const key = await testKey("a");
  for (const event of [[], null, "{}", 5, undefined] as unknown[]) {
    await assertRejects(
      () => signEvent(event as Record<string, unknown>, key),
      TypeError,
      "Cannot sign event: it must be an object",
    );
  }
});

interface Rfc8037 {
  readonly input: {
    readonly payload: string;
    readonly key: { readonly d: string };
  };
  readonly output: { readonly json_flat: unknown };
}

vectorTest(
  "RFC 8037, A.4: the same members, and no SIG event",
  "rfc8037/jws.json",
  async () => {
    const { input, output } = readJsonVectors<Rfc8037>("rfc8037/jws.json");
    const seed = decodeBase64UrlStrict(input.key.d) ?? new Uint8Array();
    const key = await importSigningKey(await jwkOfSeed(seed));
    const jws = await signJws({ alg: "EdDSA" }, input.payload, key);
    assertEquals<unknown>(jws, output.json_flat);
    await expectSigError(
      () => parseFeedLine(JSON.stringify(jws)),
      "typ_mismatch",
      "typ must be sig-event+jws",
    );
  },
);
