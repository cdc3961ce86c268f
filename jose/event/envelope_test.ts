import { assertEquals, assertRejects } from "@std/assert";
import { createFeedLineParser, parseFeedLine } from "@sig/core";
import { decodeBase64UrlStrict } from "@sig/core/internal";
import {
  createKeyResolver,
  importSigningKey,
  signEvent,
  type VerificationBackend,
  verifyEnvelope,
} from "@sig/jose";
import { FlattenedSign, flattenedVerify, importJWK } from "jose";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { signJws } from "./jws.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { jwkOfSeed, testJwk, testKey } from "../testdata/keys.ts";

const BACKENDS: readonly VerificationBackend[] = ["node", "web"];

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
  assertEquals(Object.keys(envelope), ["protected", "payload", "signature"]);
  const verified = await flattenedVerify(
    { ...envelope },
    await importJWK({ kty, crv, x }, "EdDSA"),
  );
  assertEquals(
    new TextDecoder().decode(verified.payload),
    JSON.stringify(EVENT),
  );
});

Deno.test("rejects anything but an object with a TypeError", async () => {
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
  "RFC 8037, A.4: the same members, but not a SIG event",
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

const signer = await testKey("a");
const other = await testKey("b");
const envelope = await signEvent({ sequence: 1, note: "é😀" }, signer);

for (const backend of BACKENDS) {
  const keys = await createKeyResolver({
    keys: [signer.publicJwk, other.publicJwk],
  }, { backend });
  const verify = (members: object) =>
    verifyEnvelope(
      parseFeedLine(JSON.stringify({ ...envelope, ...members })),
      keys,
    );

  Deno.test(`${backend}: returns the key of the signature`, async () => {
    const signedBy = verify({});
    assertEquals(signedBy instanceof Promise, backend === "web");
    assertEquals((await signedBy).kid, "a");
  });

  Deno.test(`${backend}: concurrent verifications do not share bytes`, async () => {
    const lines = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const event = { sequence: i, pad: "x".repeat((i * 997) % 9000) };
        return JSON.stringify(await signEvent(event, signer));
      }),
    );
    // The parser reuses the same arrays for all lines.
    const parse = createFeedLineParser();
    const encoder = new TextEncoder();
    const verdicts = lines.map((line) =>
      verifyEnvelope(parse(encoder.encode(line)), keys)
    );
    for (const verdict of verdicts) assertEquals((await verdict).kid, "a");
  });
}
