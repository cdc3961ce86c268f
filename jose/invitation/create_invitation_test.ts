import {
  createInvitation,
  type CreateInvitationOptions,
  type InvitationTerms,
  verifyInvitation,
} from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  EXPECTED,
  HEADER,
  invite,
  ISSUER,
  orgKey,
  TERMS,
} from "../testdata/invitations.ts";
import { NOW, NOW_SECONDS } from "../testdata/tokens.ts";

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
  const wrong: readonly (readonly [Partial<InvitationTerms>, string])[] = [
    [{ roles: ["r".repeat(129)] }, "/roles"],
    [{ valid_until: "soon" }, "/valid_until"],
    [{ for: "a\nb" }, "/for"],
  ];
  const create = (more: Partial<CreateInvitationOptions>) =>
    createInvitation({
      ...{ issuer: ISSUER, key, terms: TERMS, now: () => NOW },
      ...more,
    });
  for (const [change, pointer] of wrong) {
    const error = await expectSigError(
      create({ terms: { ...TERMS, ...change } }),
      "invalid_invitation",
      "claim ",
    );
    assertEquals(error.context.pointer, pointer);
  }
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
