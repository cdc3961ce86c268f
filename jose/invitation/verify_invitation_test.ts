import type { ErrorCode } from "@sig/core";
import {
  createInvitation,
  createKeyResolver,
  invitationLink,
  type InvitationTerms,
  MAX_INVITATION_LENGTH,
  parseInvitation,
  signEvent,
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

/** An issuer's own signature does not excuse a wrong form. */
async function refuses(
  header: string | object,
  claims: string | object,
  says: string,
  code: ErrorCode = "invalid_invitation",
): Promise<void> {
  const text = await tokenOf(orgKey, header, claims);
  await expectSigError(() => verifyInvitation(text, EXPECTED), code, says);
}

Deno.test("an invitation has exactly the documented header and claims", async () => {
  const { text, expires_at } = await invite();
  const [header, claims] = text.split(".").slice(0, 2)
    .map((part) =>
      JSON.parse(atob(part.replace(/-/g, "+").replace(/_/g, "/")))
    );
  assertEquals(header, HEADER);
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

Deno.test("an honest invitation verifies, bare, with blanks around it, and out of a link", async () => {
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

Deno.test("a header has exactly EdDSA, the type and a kid", async () => {
  for (const alg of ["none", "HS256", "ES256", "eddsa", undefined]) {
    await refuses({ ...HEADER, alg }, CLAIMS, "alg must be EdDSA");
  }
  for (const typ of ["sig-event+jws", "sig-attestation+jwt", "JWT"]) {
    await refuses({ ...HEADER, typ }, CLAIMS, "typ must be sig-invitation+jwt");
  }
  for (const kid of ["", "a\nb", "k".repeat(257), 7]) {
    await refuses({ ...HEADER, kid }, CLAIMS, "kid must be 1 to 256");
  }
  const jwk = foreignKey.publicJwk;
  for (const extra of [{ jwk }, { crit: ["b64"] }, { jku: "https://x.y" }]) {
    await refuses({ ...HEADER, ...extra }, CLAIMS, "exactly alg, typ and kid");
  }
});

Deno.test("claims are closed, strict JSON and within their limits", async () => {
  const claims = JSON.stringify(CLAIMS);
  await refuses(
    HEADER,
    claims.replace("{", '{"roles":["admin"],'),
    "the claims must be strict JSON",
  );
  await refuses(
    JSON.stringify(HEADER).replace("{", '{"kid":"orgsign-1",'),
    CLAIMS,
    "the header must be strict JSON",
  );
  await refuses(HEADER, "[]", "the claims must be one JSON object");
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

Deno.test("what is no compact JWS, or too long, is invalid_invitation", async () => {
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

Deno.test("only the issuer's own key counts, under its own kid", async () => {
  const verify = (text: string, more = {}) =>
    verifyInvitation(text, { ...EXPECTED, ...more });
  const forged = await tokenOf(foreignKey, HEADER, CLAIMS);
  const says = 'its signature is not one of key "orgsign-1"';
  await expectSigError(verify(forged), "signature_invalid", says);
  const { text } = await invite();
  const [header, claims, signature] = text.split(".");
  const [, wider] = (await tokenOf(foreignKey, HEADER, CLAIMS)).split(".");
  await expectSigError(
    verify(`${header}.${wider}.${signature}`),
    "signature_invalid",
    says,
  );
  for (const cut of ["", signature!.slice(0, 80)]) {
    await expectSigError(
      verify(`${header}.${claims}.${cut}`),
      "signature_invalid",
      says,
    );
  }
  const unknown = await tokenOf(orgKey, { ...HEADER, kid: "old" }, CLAIMS);
  await expectSigError(
    verify(unknown),
    "key_not_found",
    'Cannot use key "old"',
  );
  const keys = await createKeyResolver({ keys: [orgKey.publicJwk] }, {
    authorized: new Map(),
  });
  await expectSigError(
    verify(text, { keys }),
    "key_not_authorized",
    "assertionMethod does not list it",
  );
  await expectSigError(
    verify(text, { issuer: "did:web:other.example" }),
    "invalid_invitation",
    'it is one of "did:web:acme.example", not of "did:web:other.example"',
  );
});

Deno.test("an invitation counts from 60 s before it was made until it expires", async () => {
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

Deno.test("of several faults the first in the order of PROTOCOL 7b is told", async () => {
  const late = { ...EXPECTED, now: () => new Date(NOW.getTime() + 1e12) };
  const form = await tokenOf(foreignKey, { ...HEADER, kid: "x" }, "{}");
  await expectSigError(verifyInvitation(form, late), "invalid_invitation", "");
  const key = await tokenOf(foreignKey, { ...HEADER, kid: "x" }, CLAIMS);
  await expectSigError(verifyInvitation(key, late), "key_not_found", "");
  const signature = await tokenOf(foreignKey, HEADER, CLAIMS);
  await expectSigError(
    verifyInvitation(signature, late),
    "signature_invalid",
    "",
  );
  const expired = await tokenOf(orgKey, HEADER, CLAIMS);
  await expectSigError(
    verifyInvitation(expired, late),
    "invitation_expired",
    "",
  );
});

Deno.test("an event of the same key is no invitation", async () => {
  const { protected: header, payload, signature } = await signEvent(
    CLAIMS,
    orgKey,
  );
  await expectSigError(
    verifyInvitation(`${header}.${payload}.${signature}`, EXPECTED),
    "invalid_invitation",
    "typ must be sig-invitation+jwt",
  );
});

Deno.test("terms that could not be published are refused before they are signed", async () => {
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
  const wrong: readonly (readonly [Partial<InvitationTerms>, string])[] = [
    [{ roles: ["r".repeat(129)] }, "/roles"],
    [{ valid_until: "soon" }, "/valid_until"],
    [{ for: "a\nb" }, "/for"],
  ];
  for (const [change, pointer] of wrong) {
    const error = await expectSigError(
      createInvitation({
        issuer: ISSUER,
        key,
        terms: { ...TERMS, ...change },
        now: () => NOW,
      }),
      "invalid_invitation",
      "claim ",
    );
    assertEquals(error.context.pointer, pointer);
  }
  for (const ttlSeconds of [3_599, 90 * 86_400 + 1, NaN]) {
    await expectSigError(
      createInvitation({
        issuer: ISSUER,
        key,
        terms: TERMS,
        ttlSeconds,
        now: () => NOW,
      }),
      "invalid_invitation",
      "claim exp must be",
    );
  }
  assertEquals(signed, []);
});

Deno.test("the largest terms fit into an invitation", async () => {
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
