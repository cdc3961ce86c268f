import type { ErrorCode } from "@sig/core";
import {
  MAX_INVITATION_LENGTH,
  parseInvitation,
  verifyInvitation,
} from "@sig/jose";
import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  CLAIMS,
  EXPECTED,
  foreignKey,
  HEADER,
  invite,
  orgKey,
} from "../testdata/invitations.ts";
import { NOW_SECONDS, tokenOf } from "../testdata/tokens.ts";

/** A valid signature of the issuer does not make the form valid. */
async function refuses(
  header: string | object,
  claims: string | object,
  says: string,
  code: ErrorCode = "invalid_invitation",
): Promise<void> {
  const text = await tokenOf(orgKey, header, claims);
  await expectSigError(() => verifyInvitation(text, EXPECTED), code, says);
}

Deno.test("the header has exactly EdDSA, the type and a kid", async () => {
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

Deno.test("claims are strict JSON, within their limits, and without unknown ones", async () => {
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
