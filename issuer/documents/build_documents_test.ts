import { generateSigningKey } from "@sig/jose";
import { buildDidDocument, buildJwks, buildMetadata } from "@sig/issuer";
import { isSigError } from "@sig/core";
import { assert, assertEquals, assertThrows } from "@std/assert";

const DID = "did:web:acme.example";

Deno.test("sig.json has the members of docs/protocol.md §1", () => {
  assertEquals(buildMetadata(DID), {
    spec_version: "sig/0.1",
    issuer: DID,
    jwks_uri: "https://acme.example/.well-known/jwks.json",
    events_uri: "https://acme.example/.well-known/sig/events.jsonl",
    public_only: true,
    algorithms_supported: ["EdDSA"],
    event_serialization: "jws-flattened",
  });
  assertEquals(buildMetadata(DID, { publicOnly: false }).public_only, false);
});

Deno.test("a private host means http, and must be asked for", () => {
  const did = "did:web:127.0.0.1%3A8080";
  const error = assertThrows(() => buildMetadata(did), "address_not_allowed");
  assert(isSigError(error, "address_not_allowed"));
  const { events_uri, jwks_uri } = buildMetadata(did, { allowPrivate: true });
  assertEquals(jwks_uri, "http://127.0.0.1:8080/.well-known/jwks.json");
  assertEquals(
    events_uri,
    "http://127.0.0.1:8080/.well-known/sig/events.jsonl",
  );
});

Deno.test("an issuer's did:web has no path", () => {
  const error = assertThrows(() => buildMetadata(`${DID}:team`));
  assert(isSigError(error, "invalid_identifier"));
  assertEquals(error.message.includes("no path"), true);
});

Deno.test("did.json and jwks.json have the shapes of docs/protocol.md §1 and no private part", async () => {
  const key = await generateSigningKey({ kid: "orgsign-1" });
  const publicJwk = {
    kty: "OKP",
    crv: "Ed25519",
    x: key.x,
    kid: "orgsign-1",
    use: "sig",
    alg: "EdDSA",
  };
  assertEquals(Object.entries(buildJwks([key]).keys[0] ?? {}), [
    ...Object.entries(publicJwk),
  ]);
  const document = buildDidDocument(DID, [key]);
  assertEquals({ ...document }, {
    "@context": [
      "https://www.w3.org/ns/did/v1",
      "https://w3id.org/security/suites/jws-2020/v1",
    ],
    id: DID,
    verificationMethod: [{
      id: `${DID}#orgsign-1`,
      type: "JsonWebKey2020",
      controller: DID,
      publicKeyJwk: publicJwk as never,
    }],
    assertionMethod: [`${DID}#orgsign-1`],
  });
  assertEquals(JSON.stringify(document).includes(key.d), false);
});

Deno.test("a key without a kid is not published", async () => {
  const { kid: _, ...key } = await generateSigningKey();
  assertThrows(() => buildJwks([key]), TypeError, "must have a kid");
  assertThrows(
    () => buildDidDocument(DID, [key]),
    TypeError,
    "must have a kid",
  );
});
