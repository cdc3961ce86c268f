import {
  createInvitation,
  type CreateInvitationOptions,
  createKeyResolver,
  invitationLink,
  MAX_INVITATION_LENGTH,
  parseInvitation,
  verifyInvitation,
} from "@sig/jose";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  CLAIMS,
  EXPECTED,
  foreignKey,
  HEADER,
  invite,
  ISSUER,
  orgKey,
  TERMS,
} from "../testdata/invitations.ts";
import { NOW, NOW_SECONDS, tokenOf } from "../testdata/tokens.ts";
import type { ErrorCode } from "@sig/core";

Deno.test("an invitation has exactly the documented header and claims", async () => {
  const { header, claims, expires_at } = await invite();
  assertEquals(header, HEADER as typeof header);
  const { jti, ...others } = claims;
  assertEquals(jti.length, 43);
  assertEquals(others, {
    iss: ISSUER,
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 7 * 86_400,
    relationship_type: "employee",
    roles: ["deploy", "review"],
    valid_until: "2027-01-31T00:00:00Z",
    for: "Alice Doe",
  });
  assertEquals(expires_at, "2026-02-07T09:00:00Z");
  assert((await invite()).claims.jti !== jti, "a jti is random");
});

Deno.test("refuses to sign terms that can't be published", async () => {
  const signed: string[] = [];
  const key = {
    ...orgKey,
    kid: orgKey.kid,
    publicJwk: orgKey.publicJwk,
    sign(bytes: Uint8Array<ArrayBuffer>) {
      signed.push("signed");
      return orgKey.sign(bytes);
    },
  };
  const create = (more: Partial<CreateInvitationOptions>) =>
    createInvitation({
      ...{ issuer: ISSUER, key, terms: TERMS, now: () => NOW },
      ...more,
    });
  await expectSigError(
    create({ terms: { ...TERMS, for: "a\nb" } }),
    "invalid_invitation",
    "claim for must be 1 to 128 characters",
  );
  for (const ttlSeconds of [3_599, 90 * 86_400 + 1, NaN]) {
    await expectSigError(
      create({ ttlSeconds }),
      "invalid_invitation",
      "claim exp must be",
    );
  }
  assertEquals(signed, []);
});

Deno.test("the longest terms fit into an invitation", async () => {
  const roles = Array.from(
    { length: 64 },
    (_, i) => `${i}`.padStart(128, "r"),
  );
  const { text } = await invite({ ...TERMS, roles });
  await verifyInvitation(text, EXPECTED);
  const wide = roles.map((role) => role.replaceAll("r", "\u00e9"));
  await expectSigError(
    () => invite({ ...TERMS, roles: wide }),
    "invalid_invitation",
    "longer than 16384",
  );
});

// promise: An altered, expired or foreign invitation, or one of a withdrawn
//   key, is refused.

Deno.test("accepts a valid invitation as text, with white space around it, or in a link", async () => {
  const { text, claims } = await invite();
  const link = invitationLink("https://login.example/?lang=en#old", text);
  assertEquals(link, `https://login.example/?lang=en#/invitation/${text}`);
  for (const given of [text, `\n ${text}\n`, link, new URL(link).hash]) {
    const verified = await verifyInvitation(given, EXPECTED);
    assertEquals([verified.text, verified.claims], [text, claims]);
  }
  for (const page of ["mailto:a@b.example", "javascript:alert(1)", "x"]) {
    assertThrows(() => invitationLink(page, text), TypeError);
  }
});

Deno.test("accepts only the issuer's own key under its own kid", async () => {
  const { text } = await invite();
  const [header, claims, signature = ""] = text.split(".");
  const forged = await tokenOf(foreignKey, HEADER, CLAIMS);
  const [, wider] = forged.split(".");
  const says = 'its signature is not one of key "orgsign-1"';
  const unknown = await tokenOf(orgKey, { ...HEADER, kid: "old" }, CLAIMS);
  const keys = await createKeyResolver({ keys: [orgKey.publicJwk] }, {
    authorized: new Map(),
  });
  const cases: readonly (readonly [string, object, ErrorCode, string])[] = [
    [forged, {}, "signature_invalid", says],
    [`${header}.${wider}.${signature}`, {}, "signature_invalid", says],
    [`${header}.${claims}.`, {}, "signature_invalid", says],
    [
      `${header}.${claims}.${signature.slice(0, 80)}`,
      {},
      "signature_invalid",
      says,
    ],
    [unknown, {}, "key_not_found", 'Cannot use key "old"'],
    [text, { keys }, "key_not_authorized", "assertionMethod does not list it"],
    [
      text,
      { keys: { ...EXPECTED.keys, endOf: () => 3 } },
      "key_not_found",
      "the issuer's recovery key ended it",
    ],
    [
      text,
      { issuer: "did:web:other.example" },
      "invalid_invitation",
      'it is one of "did:web:acme.example", not of "did:web:other.example"',
    ],
  ];
  for (const [given, more, code, says] of cases) {
    const options = { ...EXPECTED, ...more };
    await expectSigError(verifyInvitation(given, options), code, says);
  }
});

Deno.test("an invitation is valid from 60 s before its creation until it expires", async () => {
  const { text } = await invite();
  const at = (ms: number) =>
    verifyInvitation(text, {
      ...EXPECTED,
      now: () => new Date(NOW.getTime() + ms),
    });
  await at(-60_000);
  await at(7 * 86_400_000 - 1);
  await expectSigError(
    at(7 * 86_400_000),
    "invitation_expired",
    "it expired at 2026-02-07T09:00:00Z",
  );
  await expectSigError(
    at(-61_000),
    "invalid_invitation",
    "one of the two clocks",
  );
});

Deno.test("reports the first fault in the order of docs/protocol.md §9", async () => {
  const late = { ...EXPECTED, now: () => new Date(NOW.getTime() + 1e12) };
  const other = { ...HEADER, kid: "x" };
  const cases: readonly (readonly [string, ErrorCode])[] = [
    [await tokenOf(foreignKey, other, "{}"), "invalid_invitation"],
    [await tokenOf(foreignKey, other, CLAIMS), "key_not_found"],
    [await tokenOf(foreignKey, HEADER, CLAIMS), "signature_invalid"],
    [await tokenOf(orgKey, HEADER, CLAIMS), "invitation_expired"],
  ];
  for (const [text, code] of cases) {
    await expectSigError(verifyInvitation(text, late), code, "Cannot ");
  }
});

/** A valid signature of the issuer does not make the form valid. */
async function refuses(
  header: string | object,
  claims: string | object,
  says: string,
): Promise<void> {
  const text = await tokenOf(orgKey, header, claims);
  await expectSigError(
    verifyInvitation(text, EXPECTED),
    "invalid_invitation",
    says,
  );
}

Deno.test("the header has exactly EdDSA, the type and a kid", async () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ alg: "none" }, "alg must be EdDSA"],
    [{ typ: "sig-event+jws" }, "typ must be sig-invitation+jwt"],
    [{ typ: "sig-attestation+jwt" }, "typ must be sig-invitation+jwt"],
    ...["", "a\nb", "k".repeat(257), 7].map((kid) =>
      [{ kid }, "kid must be 1 to 256"] as const
    ),
    [{ jwk: foreignKey.publicJwk }, "exactly alg, typ and kid"],
  ];
  for (const [change, says] of cases) {
    await refuses({ ...HEADER, ...change }, CLAIMS, says);
  }
});

Deno.test("claims are within their limits, and without unknown ones", async () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ sub: "did:web:a.example" }, 'unknown claim "sub"'],
    [{ iss: "acme.example" }, "claim iss"],
    [{ jti: "short" }, "claim jti must be 32 bytes"],
    [{ jti: `${CLAIMS.jti.slice(0, 42)}9` }, "claim jti must be 32 bytes"],
    [{ jti: undefined }, "claim jti"],
    [{ iat: -1 }, "claim iat"],
    [{ iat: `${NOW_SECONDS}` }, "claim iat"],
    [{ exp: NOW_SECONDS + 3_599 }, "claim exp must be 1 hour to 90 days"],
    [{ exp: NOW_SECONDS + 90 * 86_400 + 1 }, "claim exp must be 1 hour to 90"],
    [{ exp: NOW_SECONDS + 86_400.5 }, "claim exp must be whole seconds"],
    [{ exp: 1e300 }, "claim exp must be whole seconds"],
    [{ relationship_type: "king" }, "claim relationship_type"],
    [{ roles: undefined }, "claim roles"],
    [{ roles: "deploy" }, "claim roles"],
    [{ roles: ["a", "a"] }, "claim roles"],
    [{ roles: [""] }, "claim roles"],
    [{ roles: ["a\u0007"] }, "claim roles"],
    [{ roles: ["r".repeat(129)] }, "claim roles"],
    [{ roles: Array.from({ length: 65 }, (_, i) => `${i}`) }, "claim roles"],
    [{ valid_from: "2026-02-30T00:00:00Z" }, "claim valid_from"],
    [{ valid_until: "2027-01-01" }, "claim valid_until"],
    [
      {
        valid_from: "2027-01-01T00:00:00Z",
        valid_until: "2027-01-01T00:00:00Z",
      },
      "claim valid_until must be after valid_from",
    ],
    [{ for: "Al\u001b[2Jice" }, "claim for"],
    [{ for: "" }, "claim for"],
    [{ for: "n".repeat(129) }, "claim for"],
    [{ for: 7 }, "claim for"],
    [{ same_person_as: "alice" }, "claim same_person_as must be a DID"],
    [{ same_person_as: "" }, "claim same_person_as must be a DID"],
    [
      { same_person_as: `did:web:${"a".repeat(512)}` },
      "claim same_person_as must be a DID",
    ],
  ];
  for (const [change, says] of cases) {
    await refuses(HEADER, { ...CLAIMS, ...change }, says);
  }
  const limits = { roles: [], valid_from: null, for: null };
  const text = await tokenOf(orgKey, HEADER, {
    ...CLAIMS,
    ...limits,
    exp: NOW_SECONDS + 3_600,
  });
  assertEquals((await verifyInvitation(text, EXPECTED)).claims.roles, []);
});

Deno.test("rejects anything but a compact JWS of at most 16 KiB with invalid_invitation", async () => {
  const { text } = await invite();
  const cases: readonly (readonly [unknown, string])[] = [
    ["", "three base64url parts"],
    ["a.b", "three base64url parts"],
    [`${text}.`, "three base64url parts"],
    [`${text}=`, "must be base64url"],
    [`.${text.slice(text.indexOf(".") + 1)}`, "must be strict JSON"],
    [`${text}${"A".repeat(MAX_INVITATION_LENGTH)}`, "longer than 16384"],
    ["A".repeat(10_000_000), "longer than 16384"],
    [7, "it must be a string"],
  ];
  for (const [given, says] of cases) {
    await expectSigError(
      () => parseInvitation(given as string),
      "invalid_invitation",
      says,
    );
  }
});
