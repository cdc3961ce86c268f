import type { ErrorCode } from "@sig/core";
import {
  createKeyResolver,
  invitationLink,
  signEvent,
  verifyInvitation,
} from "@sig/jose";
import { assertEquals, assertThrows } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  CLAIMS,
  EXPECTED,
  foreignKey,
  HEADER,
  invite,
  orgKey,
} from "../testdata/invitations.ts";
import { NOW, tokenOf } from "../testdata/tokens.ts";

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

Deno.test("an event signed with the same key is not an invitation", async () => {
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
