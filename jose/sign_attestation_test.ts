import { assertEquals } from "@std/assert";
import { compactVerify, importJWK } from "jose";
import type { ErrorCode } from "@sig/core";
import {
  jwkToDidKey,
  parseAttestation,
  signAttestation,
  type SignAttestationOptions,
} from "@sig/jose";
import { expectSigError } from "./testdata/expect.ts";
import { testKey } from "./testdata/keys.ts";
import { CHALLENGE, kidOf, NOW, NOW_SECONDS } from "./testdata/tokens.ts";

const key = await testKey("subject");
const did = jwkToDidKey(key.publicJwk);
const otherDid = jwkToDidKey((await testKey("b")).publicJwk);
const WEB = "did:web:alice.example";

function sign(more: Partial<SignAttestationOptions> = {}): Promise<string> {
  return signAttestation({
    challenge: CHALLENGE,
    key,
    now: () => NOW,
    ...more,
  });
}

Deno.test("it answers the challenge and nothing else", async () => {
  const jwt = await sign();
  const { header, claims } = parseAttestation(jwt);
  assertEquals<unknown>(header, {
    alg: "EdDSA",
    typ: "sig-attestation+jwt",
    kid: kidOf(key),
  });
  assertEquals<unknown>(claims, {
    iss: did,
    sub: did,
    aud: CHALLENGE.audience,
    nonce: CHALLENGE.nonce,
    jti: CHALLENGE.challenge_id,
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 300,
    scope: "email profile",
  });
  assertEquals(await sign(), jwt);
  const { kty, crv, x } = key.publicJwk;
  await compactVerify(jwt, await importJWK({ kty, crv, x }, "EdDSA"));
});

Deno.test("fewer scopes may be granted, none is no claim", async () => {
  const scopeOf = async (scopes: readonly string[]) =>
    parseAttestation(await sign({ scopes })).claims.scope;
  assertEquals(await scopeOf(["profile"]), "profile");
  assertEquals(await scopeOf(["profile", "email", "email"]), "email profile");
  assertEquals(await scopeOf([]), undefined);
});

Deno.test("a token never outlives the challenge", async () => {
  const challenge = { ...CHALLENGE, expires_at: "2026-01-31T09:05:00.999Z" };
  const { claims } = parseAttestation(await sign({ challenge }));
  assertEquals(claims.exp, NOW_SECONDS + 300);
});

Deno.test("the subject is the did:key, the challenge's or a did:web", async () => {
  const subjectOf = async (more: Partial<SignAttestationOptions>) => {
    const { subject, header } = parseAttestation(await sign(more));
    return [subject, header.kid];
  };
  const asked = { ...CHALLENGE, subject: WEB };
  assertEquals(await subjectOf({ subject: did }), [did, kidOf(key)]);
  assertEquals(await subjectOf({ subject: WEB }), [WEB, `${WEB}#subject`]);
  assertEquals(await subjectOf({ challenge: asked }), [WEB, `${WEB}#subject`]);
  const anyone = { ...CHALLENGE, subject: null };
  assertEquals(await subjectOf({ challenge: anyone }), [did, kidOf(key)]);
});

Deno.test("what must not be signed is not signed", async () => {
  const { nonce: _, ...withoutNonce } = CHALLENGE;
  const asked = { ...CHALLENGE, subject: otherDid };
  const cases: readonly (readonly [object, ErrorCode, string])[] = [
    [{ scopes: ["admin"] }, "scope_not_granted", '"admin" was not asked for'],
    [{ subject: otherDid }, "subject_mismatch", "is another key than"],
    [{ challenge: asked }, "subject_mismatch", "is another key than"],
    [
      { challenge: asked, subject: did },
      "subject_mismatch",
      `the challenge is for "${otherDid}"`,
    ],
    [{ subject: "did:jwk:e30" }, "unsupported_did_method", "neither a did:key"],
    [{ subject: "did:web:" }, "invalid_identifier", "did:web"],
    [
      { now: () => new Date("2026-01-31T09:05:00Z") },
      "challenge_expired",
      "the challenge expired at 2026-01-31T09:05:00Z",
    ],
    [{ challenge: null }, "invalid_field", "it must be one JSON object"],
    [{ challenge: withoutNonce }, "missing_field", "/nonce is required"],
    [
      { challenge: { ...CHALLENGE, audience: "" } },
      "invalid_field",
      "/audience must be a non-empty string",
    ],
    [
      { challenge: { ...CHALLENGE, scopes: ["a b"] } },
      "invalid_field",
      "/scopes must be an array of scope tokens",
    ],
    [
      { challenge: { ...CHALLENGE, expires_at: "tomorrow" } },
      "invalid_field",
      "/expires_at must be an RFC 3339 UTC timestamp",
    ],
    [
      { challenge: { ...CHALLENGE, subject: 5 } },
      "invalid_field",
      "/subject must be a DID or null",
    ],
    [
      { challenge: { ...CHALLENGE, scopes: ["s".repeat(8192)] } },
      "invalid_attestation",
      "it would be longer than 8192 characters",
    ],
  ];
  for (const [more, code, says] of cases) {
    await expectSigError(() => sign(more), code, says);
  }
});
