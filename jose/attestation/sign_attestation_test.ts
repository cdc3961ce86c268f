import { assertEquals } from "@std/assert";
import { compactVerify, importJWK } from "jose";
import type { ErrorCode } from "@sig/core";
import {
  describeChallenge,
  jwkToDidKey,
  parseAttestation,
  previewAttestation,
  signAttestation,
  type SignAttestationOptions,
} from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testKey } from "../testdata/keys.ts";
import {
  CHALLENGE,
  claimsOf,
  headerOf,
  kidOf,
  NOW,
  NOW_SECONDS,
} from "../testdata/tokens.ts";

// promise: A signer shows site, subject and scopes as signed; a site can't
//   choose the DID.

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

Deno.test("an attestation answers exactly its challenge", async () => {
  const jwt = await sign();
  const { header, claims } = parseAttestation(jwt);
  assertEquals<unknown>(header, headerOf(key));
  const scope = "email profile";
  assertEquals<unknown>(claims, { ...claimsOf(key), scope });
  assertEquals(await sign(), jwt);
  const { kty, crv, x } = key.publicJwk;
  await compactVerify(jwt, await importJWK({ kty, crv, x }, "EdDSA"));
});

Deno.test("grants a subset of the scopes, and omits the claim without any", async () => {
  const scopeOf = async (scopes: readonly string[]) =>
    parseAttestation(await sign({ scopes })).claims.scope;
  assertEquals(await scopeOf(["profile"]), "profile");
  assertEquals(await scopeOf(["profile", "email", "email"]), "email profile");
  assertEquals(await scopeOf([]), undefined);
});

Deno.test("a token never outlives its challenge", async () => {
  const challenge = { ...CHALLENGE, expires_at: "2026-01-31T09:05:00.999Z" };
  const { claims } = parseAttestation(await sign({ challenge }));
  assertEquals(claims.exp, NOW_SECONDS + 300);
});

Deno.test("the subject is the did:key, or the selected did:web", async () => {
  const subjectOf = async (more: Partial<SignAttestationOptions>) => {
    const { subject, header } = parseAttestation(await sign(more));
    return [subject, header.kid];
  };
  const asked = { ...CHALLENGE, subject: WEB };
  assertEquals(await subjectOf({ subject: did }), [did, kidOf(key)]);
  assertEquals(await subjectOf({ subject: WEB }), [WEB, `${WEB}#subject`]);
  assertEquals(
    await subjectOf({ challenge: asked, subject: WEB }),
    [WEB, `${WEB}#subject`],
  );
  const anyone = { ...CHALLENGE, subject: null };
  assertEquals(await subjectOf({ challenge: anyone }), [did, kidOf(key)]);
});

Deno.test("refuses a challenge or an option that must not be signed", async () => {
  const { nonce: _, ...withoutNonce } = CHALLENGE;
  const asked = { ...CHALLENGE, subject: otherDid };
  const cases: readonly (readonly [object, ErrorCode, string])[] = [
    [{ scopes: ["admin"] }, "scope_not_granted", '"admin" was not asked for'],
    [{ subject: otherDid }, "subject_mismatch", "is another key than"],
    [
      { challenge: asked },
      "subject_mismatch",
      `the challenge is for "${otherDid}", not "${did}"`,
    ],
    [
      { challenge: { ...CHALLENGE, subject: WEB } },
      "subject_mismatch",
      `the challenge is for "${WEB}", not "${did}"`,
    ],
    [
      { challenge: asked, subject: otherDid },
      "subject_mismatch",
      "is another key than",
    ],
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

const TEXT = describeChallenge({ ...CHALLENGE, subject: null, require: null });

Deno.test("refuses a message that differs from the signed members", async () => {
  const challenge = { ...CHALLENGE, message: TEXT };
  assertEquals(await sign({ challenge }), await sign());
  const relayed = {
    audience: "https://bank.example",
    challenge_id: "challenge-2",
    nonce: "another",
    scopes: ["email", "profile", "transfer"],
    subject: did,
    require: ["role=deploy"],
    issued_at: "2026-01-31T08:59:59Z",
    expires_at: "2026-01-31T09:04:59Z",
  };
  const texts: readonly unknown[] = [
    ...[TEXT.replace("profile", ""), `${TEXT}\n`, ` ${TEXT}`, "", null, 5],
    TEXT.replace("shop.example", "shop.example."),
  ];
  const changed = [
    ...Object.entries(relayed).map(([name, value]) => ({ [name]: value })),
    ...texts.map((message) => ({ message })),
  ];
  for (const more of changed) {
    const error = await expectSigError(
      () => sign({ challenge: { ...challenge, ...more } as typeof challenge }),
      "invalid_field",
      "Cannot use challenge: /message does not say what would be signed",
    );
    assertEquals(error.context.pointer, "/message");
  }
});

Deno.test("a challenge is valid for 30 to 900 seconds, also by the local clock", async () => {
  const life = (issued_at: string, expires_at: string) =>
    sign({ challenge: { ...CHALLENGE, issued_at, expires_at } });
  await life("2026-01-31T09:00:00Z", "2026-01-31T09:00:30Z");
  await life("2026-01-31T09:00:00Z", "2026-01-31T09:15:00Z");
  await life("2026-01-31T09:01:00Z", "2026-01-31T09:16:00Z");
  const cases = [
    ["2026-01-31T09:00:00.001Z", "2026-01-31T09:00:30Z"],
    ["2026-01-31T09:00:00Z", "2026-01-31T09:15:00.001Z"],
    ["2026-01-31T09:00:00Z", "2027-01-31T09:00:00Z"],
    ["2026-01-31T09:05:00Z", "2026-01-31T09:04:00Z"],
  ] as const;
  for (const [from, to] of cases) {
    await expectSigError(
      () => life(from, to),
      "invalid_field",
      "Cannot use challenge: /expires_at must lie 30 to 900 s after issued_at",
    );
  }
  await expectSigError(
    () => life("2027-01-31T09:00:00Z", "2027-01-31T09:05:00Z"),
    "invalid_field",
    "Cannot use challenge: /expires_at must lie at most 960 s ahead",
  );
});

Deno.test("refuses a challenge that can't be shown reliably", async () => {
  const { issued_at: _, ...undated } = CHALLENGE;
  const cases: readonly (readonly [object, ErrorCode, string])[] = [
    [undated, "missing_field", "/issued_at is required"],
    ...[
      ...["Your bank", "shop.example", "https://shop.example/"],
      ...["https://shop.example:443", "https://bank.example@shop.example"],
      ...["https://SHOP.example", "https://sh\u043ep.example"],
      ...["ftp://shop.example", "did:web:shop.example wants nothing"],
    ].map((audience) =>
      [
        { ...CHALLENGE, audience },
        "invalid_field",
        "/audience must be an origin or a DID",
      ] as const
    ),
    [
      { ...CHALLENGE, scopes: ["a", "a"] },
      "invalid_field",
      "/scopes must be at most 32 scope tokens, each once",
    ],
    [
      { ...CHALLENGE, scopes: Array.from({ length: 33 }, (_, i) => `s${i}`) },
      "invalid_field",
      "/scopes must be at most 32 scope tokens, each once",
    ],
    ...["role=deploy", [5], ["a\nb"]].map((require) =>
      [
        { ...CHALLENGE, require },
        "invalid_field",
        "/require must be null or an array of strings",
      ] as const
    ),
  ];
  for (const [challenge, code, says] of cases) {
    await expectSigError(
      () => sign({ challenge: challenge as typeof CHALLENGE }),
      code,
      says,
    );
  }
});

Deno.test("a preview shows the signed content, and fails where signing fails", async () => {
  const challenge = { ...CHALLENGE, require: ["role=deploy"] };
  const options = { challenge, key, now: () => NOW, scopes: ["email"] };
  const { claims } = parseAttestation(await signAttestation(options));
  assertEquals(previewAttestation(options), {
    audience: claims.aud,
    subject: claims.sub,
    scopes: [claims.scope ?? ""],
    require: ["role=deploy"],
    expires_at: "2026-01-31T09:05:00Z",
  });
  await expectSigError(
    () => previewAttestation({ ...options, scopes: ["admin"] }),
    "scope_not_granted",
    'Cannot sign attestation: scope "admin" was not asked for',
  );
});
