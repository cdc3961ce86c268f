import { assertEquals } from "@std/assert";
import { createFeedLineParser, parseFeedLine } from "@sig/core";
import {
  createKeyResolver,
  importVerificationKey,
  type KeyResolver,
  signEvent,
  type VerificationBackend,
  verifyEnvelope,
} from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testKey } from "../testdata/keys.ts";

const signer = await testKey("a");
const other = await testKey("b");
const envelope = await signEvent({ sequence: 1, note: "é😀" }, signer);
const BACKENDS: readonly VerificationBackend[] = ["node", "web"];

for (const backend of BACKENDS) {
  const keys = await createKeyResolver({
    keys: [signer.publicJwk, other.publicJwk],
  }, { backend });
  const verify = (members: object) =>
    verifyEnvelope(
      parseFeedLine(JSON.stringify({ ...envelope, ...members })),
      keys,
    );

  Deno.test(`${backend}: the key that signed is returned`, async () => {
    const signedBy = verify({});
    assertEquals(signedBy instanceof Promise, backend === "web");
    assertEquals((await signedBy).kid, "a");
  });

  Deno.test(`${backend}: another payload, header or signature does not verify`, async () => {
    const theirs = await signEvent({ sequence: 1, note: "é😀" }, other);
    const second = await signEvent({ sequence: 2 }, signer);
    for (
      const members of [
        { payload: second.payload },
        { signature: second.signature },
        { signature: theirs.signature },
        { protected: theirs.protected },
        {
          protected: `${
            btoa('{"alg":"EdDSA","kid":"a","typ":"sig-event+jws"} ')
          }`,
        },
        { payload: "" },
      ]
    ) {
      const error = await expectSigError(
        () => verify(members),
        "signature_invalid",
        "Cannot verify signature: it is not a signature of key ",
      );
      assertEquals(
        error.context.kid,
        members.protected === theirs.protected ? "b" : "a",
      );
    }
  });

  Deno.test(`${backend}: a signature of another length is signature_invalid`, async () => {
    for (const length of [0, 1, 63, 65, 1024]) {
      const signature = encodeBase64Url(new Uint8Array(length));
      const error = await expectSigError(
        () => verify({ signature }),
        "signature_invalid",
        `Cannot verify signature: it has ${length} bytes (expected 64)`,
      );
      assertEquals(error.context, { kid: "a" });
    }
  });

  Deno.test(`${backend}: lines in flight do not share their bytes`, async () => {
    const lines = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const event = { sequence: i, pad: "x".repeat((i * 997) % 9000) };
        return JSON.stringify(await signEvent(event, signer));
      }),
    );
    // One parser reads all lines into the same arrays.
    const parse = createFeedLineParser();
    const encoder = new TextEncoder();
    const verdicts = lines.map((line) =>
      verifyEnvelope(parse(encoder.encode(line)), keys)
    );
    for (const verdict of verdicts) assertEquals((await verdict).kid, "a");
  });
}

Deno.test("an unknown kid comes before the signature", async () => {
  const keys = await createKeyResolver({ keys: [other.publicJwk] });
  const parsed = parseFeedLine(JSON.stringify({ ...envelope, signature: "" }));
  const error = await expectSigError(
    () => verifyEnvelope(parsed, keys),
    "key_not_found",
    'Cannot use key "a": the key set has no such key',
  );
  assertEquals(error.context, { kid: "a" });
});

Deno.test("an unauthorised key comes before the signature", async () => {
  const keys = await createKeyResolver({ keys: [signer.publicJwk] }, {
    authorized: new Map(),
  });
  const parsed = parseFeedLine(JSON.stringify({ ...envelope, signature: "" }));
  await expectSigError(
    () => verifyEnvelope(parsed, keys),
    "key_not_authorized",
    'Cannot use key "a"',
  );
});

Deno.test("a resolver of one's own fits as well", async () => {
  const key = await importVerificationKey(signer.publicJwk);
  const keys: KeyResolver = { keys: new Map([["a", key]]), resolve: () => key };
  const parsed = parseFeedLine(JSON.stringify(envelope));
  assertEquals(await verifyEnvelope(parsed, keys), key);
});
