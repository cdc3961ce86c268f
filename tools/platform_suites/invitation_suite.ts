/** Invitations, answered as the page does. @module */

import { isSigError } from "@sig/core";
import {
  answerInvitation,
  createInvitation,
  createKeyResolver,
  generateSigningKey,
  importSigningKey,
  invitationLink,
  jwkToDidKey,
  verifyAnswer,
  verifyInvitation,
} from "@sig/jose";
import { encodeBase64Url } from "@sig/jose/internal";
import { type Suite, Tally } from "./suite.ts";

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "accepted";
  } catch (error) {
    if (isSigError(error)) return error.code;
    throw error;
  }
}

/** An invitation, its link and its answer, and invalid ones. */
export const invitationSuite: Suite = async () => {
  const tally = new Tally();
  const now = () => new Date("2026-01-31T09:00:00Z");
  const issuer = "did:web:acme.example";
  const org = await importSigningKey(await generateSigningKey());
  const keys = await createKeyResolver({ keys: [org.publicJwk] });
  const { text } = await createInvitation({
    issuer,
    key: org,
    terms: { relationship_type: "employee", roles: ["d\u00e9ploy"] },
    now,
  });
  const { hash } = new URL(invitationLink("https://login.example/", text));
  const expected = { issuer, keys, now };
  const invitation = await verifyInvitation(hash, expected);
  tally.expect("link", invitation.text, text);
  const key = await importSigningKey(await generateSigningKey());
  const answer = await answerInvitation({ invitation, key, now });
  const { subject } = await verifyAnswer(answer, expected);
  tally.expect("subject", subject, jwkToDidKey(key.publicJwk));

  const [header, claims, signature] = text.split(".");
  const polluted = encodeBase64Url(
    new TextEncoder().encode(
      JSON.stringify(invitation.claims).replace("{", '{"__proto__":{},'),
    ),
  );
  const wrong: readonly (readonly [string, string])[] = [
    [`${header}.${claims}.${"A".repeat(86)}`, "signature_invalid"],
    [`${header}.${claims}.`, "signature_invalid"],
    [`${header}.${polluted}.${signature}`, "invalid_invitation"],
  ];
  for (const [altered, code] of wrong) {
    const refused = verifyAnswer({ ...answer, invitation: altered }, expected);
    tally.expect(`altered ${code}`, await codeOf(refused), code);
  }
  const late = { ...expected, now: () => new Date("2026-02-07T09:00:00Z") };
  tally.expect(
    "late",
    await codeOf(verifyAnswer(answer, late)),
    "invitation_expired",
  );
  return tally;
};
