import { assertEquals } from "@std/assert";
import { encodeBase58 } from "@std/encoding/base58";
import { decodeBase64Url } from "@std/encoding/base64url";
import { jwkToDidKey, readDidDocument } from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testJwk } from "../testdata/keys.ts";

const DID = "did:web:issuer.example";
const { d: secret, ...a } = await testJwk("a");
const { d: _, ...b } = await testJwk("b");

function method(id: string, jwk: unknown): Readonly<Record<string, unknown>> {
  return { id, type: "JsonWebKey2020", controller: DID, publicKeyJwk: jwk };
}

function read(
  document: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string])[] {
  return [...readDidDocument({ id: DID, ...document }, DID)];
}

Deno.test("reads authentication on request", () => {
  const document = {
    id: DID,
    verificationMethod: [method("#k", a), method("#b", b)],
    assertionMethod: ["#k"],
    authentication: ["#b"],
  };
  assertEquals(
    [...readDidDocument(document, DID, { relationship: "authentication" })],
    [["b", b.x]],
  );
});

Deno.test("rejects a malformed document", async () => {
  const okp = { kty: "OKP", crv: "Ed25519" };
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ verificationMethod: {} }, "verificationMethod must be an array"],
    [{ verificationMethod: null }, "verificationMethod must be an array"],
    [{ assertionMethod: "#k" }, "assertionMethod must be an array"],
    [{ verificationMethod: ["#k"] }, "a method must be an object"],
    [{ verificationMethod: [{}] }, "a method's id must be a string"],
    [{ assertionMethod: [5] }, "it must be a reference or a method"],
    [{ assertionMethod: [null] }, "it must be a reference or a method"],
    [{ assertionMethod: [{}] }, "a method's id must be a string"],
    [
      { verificationMethod: [method("#k", "x")] },
      "publicKeyJwk must be an object",
    ],
    [{ verificationMethod: [method("#k", okp)] }, "x must be base64url of 32"],
    [
      { verificationMethod: [method("#k", { ...a, x: `${a.x}=` })] },
      "x must be base64url of 32 bytes",
    ],
    [
      { verificationMethod: [method("#k", a), method(`${DID}#k`, b)] },
      "is the id of two keys",
    ],
    [
      {
        verificationMethod: [method("#k", a)],
        assertionMethod: [method("#k", b)],
      },
      '/assertionMethod/0/id: "#k" is the id of two keys',
    ],
    [
      { verificationMethod: [method("#k", { ...a, d: secret })] },
      "/verificationMethod/0/publicKeyJwk: it publishes a private key",
    ],
  ];
  for (const [document, says] of cases) {
    await expectSigError(
      () => readDidDocument({ id: DID, ...document }, DID),
      "invalid_did_document",
      says,
    );
  }
  for (const value of [null, [], "did", 5]) {
    await expectSigError(
      () => readDidDocument(value, DID),
      "invalid_did_document",
      "Cannot use DID document: it must be one JSON object",
    );
  }
});

function readAuthentication(
  ...methods: readonly Readonly<Record<string, unknown>>[]
): readonly (readonly [string, string])[] {
  const document = {
    id: DID,
    verificationMethod: methods,
    authentication: methods.map(({ id }) => id),
  };
  const relationship = "authentication";
  return [...readDidDocument(document, DID, { relationship })];
}

const MULTIBASE = jwkToDidKey(a).slice("did:key:".length);

Deno.test("a person's key may be a JWK or a multikey", () => {
  const id = "#k";
  const controller = DID;
  const publicKeyMultibase = MULTIBASE;
  for (const type of ["Multikey", "Ed25519VerificationKey2020"]) {
    assertEquals(
      readAuthentication({ id, type, controller, publicKeyMultibase }),
      [["k", a.x]],
    );
  }
  for (const type of ["JsonWebKey", "JsonWebKey2020"]) {
    assertEquals(
      readAuthentication({ id, type, controller, publicKeyJwk: a }),
      [["k", a.x]],
    );
  }
  // The key of test 1 in RFC 8032 §7.1, in the spelling of did:key.
  assertEquals(
    readAuthentication({
      id,
      type: "Multikey",
      publicKeyMultibase: "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw",
    }),
    [["k", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"]],
  );
});

Deno.test("multikeys of other types authorise nothing", () => {
  const id = "#k";
  assertEquals(
    readAuthentication(
      // X25519, and an Ed25519 key in a type without that member.
      {
        id,
        type: "Multikey",
        publicKeyMultibase: "z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc",
      },
      { id, type: "Multikey", publicKeyMultibase: "uAQID" },
      { id, type: "JsonWebKey2020", publicKeyMultibase: MULTIBASE },
      { id, publicKeyMultibase: MULTIBASE },
    ),
    [],
  );
  // An issuer's key must be a JWK (docs/protocol.md §1).
  assertEquals(
    read({
      assertionMethod: [
        { id, type: "Multikey", publicKeyMultibase: MULTIBASE },
      ],
    }),
    [],
  );
});

Deno.test("rejects a multikey that is not exactly an Ed25519 key", async () => {
  const key = decodeBase64Url(a.x);
  const encode = (...bytes: readonly number[]) =>
    `z${encodeBase58(Uint8Array.of(...bytes))}`;
  const neutral = [1, ...new Array(31).fill(0)];
  const texts = [
    ...[MULTIBASE.slice(0, -1), `${MULTIBASE}1`, `${MULTIBASE} `, "z6Mk"],
    ...[MULTIBASE.replace(/.$/, "0"), `z6Mk${"2".repeat(200)}`],
    ...[MULTIBASE.slice(1), `u${MULTIBASE.slice(1)}`, `Z${MULTIBASE.slice(1)}`],
    ...[encode(0xed, 0x01, ...key, 0), encode(0xed, 0x01, ...key.slice(1))],
    ...[encode(0xec, 0x01, ...key), encode(0xed, 0x02, ...key), encode(...key)],
    ...[encode(0xed, 0x01, ...neutral), ""],
    encode(0xed, 0x01, ...new Array(31).fill(0xff), 0x7f),
  ];
  for (const publicKeyMultibase of texts) {
    const error = await expectSigError(
      () =>
        readAuthentication({
          id: "#k",
          type: "Ed25519VerificationKey2020",
          publicKeyMultibase,
        }),
      "invalid_did_document",
      "publicKeyMultibase must be an Ed25519 key in base58btc (z6Mk…)",
    );
    assertEquals(
      error.context.pointer,
      "/verificationMethod/0/publicKeyMultibase",
    );
  }
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ publicKeyMultibase: 5 }, "publicKeyMultibase must be a string"],
    [{ publicKeyMultibase: null }, "publicKeyMultibase must be a string"],
    [{ publicKeyJwk: a }, "a method must have one key, not two"],
    [{ secretKeyMultibase: "z3u2" }, "it publishes a private key"],
    [{ privateKeyMultibase: "z3u2" }, "it publishes a private key"],
    [{ publicKeyMultibase: "z6Mk" }, "must be an Ed25519 key in base58btc"],
  ];
  for (const [more, says] of cases) {
    await expectSigError(
      () =>
        readAuthentication({
          id: "#k",
          type: "Multikey",
          publicKeyMultibase: MULTIBASE,
          ...more,
        }),
      "invalid_did_document",
      says,
    );
  }
});
