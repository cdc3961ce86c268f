import type { ErrorCode } from "@sig/core";
import {
  answerInvitation,
  type AnswerInvitationOptions,
  importVerificationKey,
  type InvitationAnswer,
  jwkToDidKey,
  parseAttestation,
  type ParsedInvitation,
  previewAttestation,
  signAttestation,
  verifyAnswer,
  verifyAttestation,
} from "@sig/jose";
import { encodeBase64Url } from "@sig/jose/internal";
import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  CLAIMS,
  EXPECTED,
  foreignKey,
  HEADER,
  invite,
  ISSUER,
  orgKey,
  personKey,
  TERMS,
} from "../testdata/invitations.ts";
import {
  CHALLENGE,
  headerOf,
  NOW,
  NOW_SECONDS,
  tokenOf,
} from "../testdata/tokens.ts";

// promise: An answer to an invitation can't log in, a login can't enrol; no
//   site can relay either.

const now = () => NOW;
const person = jwkToDidKey(personKey.publicJwk);
const invitation = await invite();

async function digestOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return encodeBase64Url(
    new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)),
  );
}

/** Returns the claims of a valid answer. */
async function claimsOf(
  { text, claims }: ParsedInvitation,
): Promise<Record<string, unknown>> {
  return {
    iss: person,
    sub: person,
    aud: ISSUER,
    nonce: await digestOf(text),
    jti: claims.jti,
    iat: NOW_SECONDS,
    exp: claims.exp,
    scope: "enrol",
  };
}

/** Returns an answer, valid or modified. */
function answered(
  more: Partial<AnswerInvitationOptions> = {},
): Promise<InvitationAnswer> {
  return answerInvitation({ invitation, key: personKey, now, ...more });
}

async function refuses(
  change: object,
  code: ErrorCode,
  says: string,
): Promise<void> {
  const claims = { ...await claimsOf(invitation), ...change };
  const attestation = await tokenOf(personKey, headerOf(personKey), claims);
  const answer = { invitation: invitation.text, attestation };
  await expectSigError(verifyAnswer(answer, EXPECTED), code, says);
}

Deno.test("an answer has exactly the claims of docs/protocol.md §9, and verifies", async () => {
  const answer = await answered();
  assertEquals(Object.keys(answer), ["invitation", "attestation"]);
  assertEquals(answer.invitation, invitation.text);
  const { header, claims } = parseAttestation(answer.attestation);
  assertEquals({ ...header }, headerOf(personKey));
  assertEquals({ ...claims }, await claimsOf(invitation));
  const verified = await verifyAnswer(answer, EXPECTED);
  assertEquals(verified.subject, person);
  assertEquals(verified.invitation.claims, invitation.claims);
  const link = `https://x.example/#/invitation/${invitation.text}`;
  const same = await answered({ invitation: link });
  assertEquals(same, answer);
});

Deno.test("an answer is valid for one invitation, one issuer and enrolment only", async () => {
  const other = await invite();
  const cases: readonly (readonly [object, ErrorCode, string])[] = [
    [
      { jti: other.claims.jti },
      "invalid_attestation",
      "it answers another challenge",
    ],
    [
      { aud: "https://acme.example" },
      "audience_mismatch",
      "it is for another audience",
    ],
    [
      { nonce: await digestOf(other.text) },
      "nonce_mismatch",
      "it has another nonce",
    ],
    ...["login", "enrol login", "Enrol", "", undefined].map((scope) =>
      [{ scope }, "scope_not_granted", "scope"] as const
    ),
    [
      { exp: invitation.claims.exp + 1 },
      "attestation_time_invalid",
      "its exp lies after",
    ],
    [
      { iat: NOW_SECONDS + 61 },
      "attestation_time_invalid",
      "its iat is more than 60 s in the future",
    ],
  ];
  for (const [change, code, says] of cases) await refuses(change, code, says);
});

Deno.test("an answer can't be used for another invitation, even with the same jti", async () => {
  const { attestation } = await answered();
  const other = await invite({ ...TERMS, roles: ["admin"] });
  await expectSigError(
    verifyAnswer({ invitation: other.text, attestation }, EXPECTED),
    "invalid_attestation",
    "it answers another challenge",
  );
  // The same `jti`, in an invitation for another person's key.
  const claims = { ...invitation.claims, same_person_as: "did:web:a.example" };
  const also = await tokenOf(orgKey, invitation.header, claims);
  await expectSigError(
    verifyAnswer({ invitation: also, attestation }, EXPECTED),
    "nonce_mismatch",
    "nonce",
  );
});

Deno.test("verifies the invitation before the attestation", async () => {
  const late = () => new Date((NOW_SECONDS + 8 * 86_400) * 1000);
  const answer = await answered();
  await expectSigError(
    verifyAnswer(answer, { ...EXPECTED, now: late }),
    "invitation_expired",
    "it expired at 2026-02-07T09:00:00Z",
  );
  await expectSigError(
    answered({ now: late }),
    "invitation_expired",
    "it expired at",
  );
  const forged = await tokenOf(foreignKey, HEADER, CLAIMS);
  await expectSigError(
    verifyAnswer({ invitation: forged, attestation: "x" }, EXPECTED),
    "signature_invalid",
    "its signature",
  );
});

Deno.test("rejects an answer of another shape and names the invalid member", async () => {
  const { text } = invitation;
  for (const answer of [null, [], "x", {}, { attestation: "x" }]) {
    await expectSigError(
      verifyAnswer(answer, EXPECTED),
      "invalid_invitation",
      "must be",
    );
  }
  for (const attestation of [undefined, 7, "x", "A".repeat(9_000)]) {
    await expectSigError(
      verifyAnswer({ invitation: text, attestation }, EXPECTED),
      "invalid_attestation",
      "Cannot read",
    );
  }
});

Deno.test("an answer is not valid as a login, nor a login as an answer", async () => {
  const { attestation } = await answered();
  // The worst case: a login that knows the invitation and has a DID as its
  // audience.
  const login = {
    ...CHALLENGE,
    challenge_id: invitation.claims.jti,
    audience: ISSUER,
    scopes: ["enrol"],
  };
  await expectSigError(
    verifyAttestation(attestation, { challenge: login, now }),
    "nonce_mismatch",
    "another nonce",
  );
  // Relayed as a login, to hide from the person that it is an invitation.
  const relayed = { ...login, nonce: await digestOf(invitation.text) };
  for (const work of [previewAttestation, signAttestation]) {
    await expectSigError(
      // deno-lint-ignore require-await -- one of the two throws synchronously
      (async () => work({ challenge: relayed, key: personKey, now }))(),
      "invalid_field",
      "/scopes must not have enrol",
    );
  }
  // A site may define a scope with the same name.
  const site = { ...CHALLENGE, scopes: ["enrol"] };
  const own = await signAttestation({ challenge: site, key: personKey, now });
  await expectSigError(
    verifyAnswer({ invitation: invitation.text, attestation: own }, EXPECTED),
    "invalid_attestation",
    "it answers another challenge",
  );
});

Deno.test("a did:web answers with a key of its DID document", async () => {
  const subject = "did:web:alice.example";
  const answer = await answered({ subject });
  const asked: string[] = [];
  const verified = await verifyAnswer(answer, {
    ...EXPECTED,
    key: async (kid) => {
      asked.push(kid);
      return await importVerificationKey({ ...personKey.publicJwk, kid });
    },
  });
  assertEquals([verified.subject, ...asked], [subject, `${subject}#person`]);
  await expectSigError(
    verifyAnswer(answer, EXPECTED),
    "unsupported_did_method",
    "only did:key",
  );
  await expectSigError(
    answered({ subject: jwkToDidKey(foreignKey.publicJwk) }),
    "subject_mismatch",
    "is another key than",
  );
});
