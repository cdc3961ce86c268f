import { assertEquals } from "@std/assert";
import { encodeBase58 } from "@std/encoding/base58";
import { didKeyToJwk, jwkToDidKey, resolveDidKey } from "@sig/jose";
import { encodeNumber } from "../testdata/edwards.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { publicJwkOf, testJwk } from "../testdata/keys.ts";

/** Test vectors of the did:key method. */
const KNOWN = [
  "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
  "did:key:z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG",
  "did:key:z6MknGc3ocHs3zdPiJbnaaqDi58NGb4pk1Sp9WxWufuXSdxf",
];

function didOf(...bytes: readonly number[]): string {
  return `did:key:z${encodeBase58(Uint8Array.from(bytes))}`;
}

Deno.test("did:key and JWK are two spellings of the same key", async () => {
  for (const did of KNOWN) assertEquals(jwkToDidKey(didKeyToJwk(did)), did);
  for (const word of ["a", "b", "c"]) {
    const jwk = await testJwk(word);
    const { d: _d, kid: _kid, ...bare } = jwk;
    assertEquals<unknown>(didKeyToJwk(jwkToDidKey(jwk)), bare);
  }
});

Deno.test("rejects anything but a did:key with invalid_identifier", async () => {
  const [known = ""] = KNOWN;
  const malformed = [
    "",
    "did:key",
    "did:key:",
    "did:key:u7QE",
    "key:z6Mk",
    ` ${known}`,
    `${known} `,
    `${known}\n`,
    `${known}#`,
    `${known}#${known.slice(8)}`,
    `${known}?a`,
    known.replace("z6", "z06"),
    known.replace("z6", "zl6"),
    known.toUpperCase(),
    known.replace("did:key:", "did:key:1:"),
  ];
  for (const did of malformed) {
    await expectSigError(
      () => didKeyToJwk(did),
      "invalid_identifier",
      "Cannot use ",
    );
  }
  await expectSigError(
    () => didKeyToJwk(`did:key:z${"1".repeat(100_000)}`),
    "invalid_identifier",
    "it is longer than 128 characters",
  );
});

Deno.test("another method is unsupported_did_method", async () => {
  for (const did of ["did:web:a.example", "did:jwk:e30", "did:keys:z6Mk"]) {
    await expectSigError(
      () => didKeyToJwk(did),
      "unsupported_did_method",
      `Cannot use "${did}": only did:key is supported here`,
    );
  }
});

Deno.test("another type of key or invalid bytes are invalid_key", async () => {
  const { x } = await testJwk("a");
  const key = [...atob(x.replaceAll("-", "+").replaceAll("_", "/"))]
    .map((c) => c.charCodeAt(0));
  const cases: readonly (readonly [string, string])[] = [
    ["did:key:z", "the did:key is not an Ed25519 key"],
    [didOf(0xec, 0x01, ...key), "the did:key is not an Ed25519 key"],
    [didOf(0xed, 0x02, ...key), "the did:key is not an Ed25519 key"],
    [didOf(0x00, 0xed, 0x01, ...key), "the did:key is not an Ed25519 key"],
    [didOf(0xed, 0x01), "the did:key has 0 bytes (expected 32)"],
    [didOf(0xed, 0x01, ...key, 0), "the did:key has 33 bytes (expected 32)"],
    [didOf(0xed, 0x01, ...key.slice(1)), "the did:key has 31 bytes"],
    [didOf(0xed, 0x01, ...encodeNumber(1n)), "x is a point of small order"],
    [didOf(0xed, 0x01, ...encodeNumber(2n)), "x is not a point on the curve"],
    [didOf(0xed, 0x01, ...encodeNumber(2n ** 255n - 1n)), "canonical"],
  ];
  for (const [did, says] of cases) {
    await expectSigError(() => didKeyToJwk(did), "invalid_key", says);
  }
  await expectSigError(
    () => jwkToDidKey(publicJwkOf(encodeNumber(1n))),
    "invalid_key",
    "small order",
  );
});

Deno.test("a kid must name the did:key's own key", async () => {
  const [did = "", other = ""] = KNOWN;
  const fragment = did.slice("did:key:".length);
  const key = await resolveDidKey(`${did}#${fragment}`);
  assertEquals(key.kid, `${did}#${fragment}`);
  assertEquals(key.jwk.x, didKeyToJwk(did).x);
  const wrong: readonly (readonly [string, string])[] = [
    [did, "it has no fragment"],
    [`${did}#`, "its fragment must repeat the key"],
    [`${did}#key-1`, "its fragment must repeat the key"],
    [`${did}#${other.slice(8)}`, "its fragment must repeat the key"],
    [`${did}#${fragment}#${fragment}`, "its fragment must repeat the key"],
    [`${did}?q#${fragment}`, "it is not a did:key"],
    ["did:key:z0#z0", "it is not a did:key"],
    ["", "it is not a did:key"],
  ];
  for (const [kid, says] of wrong) {
    await expectSigError(() => resolveDidKey(kid), "invalid_header", says);
  }
  await expectSigError(
    () => resolveDidKey("did:web:a.example#k"),
    "unsupported_did_method",
    "only did:key is supported here",
  );
});
