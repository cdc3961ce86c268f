/** An issuer, a person and invitations with any content, for tests. */

import {
  createInvitation,
  createKeyResolver,
  type InvitationTerms,
  type ParsedInvitation,
} from "@sig/jose";
import { testKey } from "./keys.ts";
import { NOW, NOW_SECONDS } from "./tokens.ts";

/** The issuer's DID. */
export const ISSUER = "did:web:acme.example";
/** The issuer's key. */
export const orgKey = await testKey("org", "orgsign-1");
/** The person's key. */
export const personKey = await testKey("person");
/** A key of another person or issuer, under the issuer's kid. */
export const foreignKey = await testKey("foreign", "orgsign-1");
/** Options that verify the test invitations. */
export const EXPECTED = {
  issuer: ISSUER,
  keys: await createKeyResolver({ keys: [orgKey.publicJwk] }),
  now: () => NOW,
};

/** The offered terms. */
export const TERMS: InvitationTerms = {
  relationship_type: "employee",
  roles: ["deploy", "review"],
  valid_until: "2027-01-31T00:00:00Z",
  for: "Alice Doe",
};

/** Creates a valid invitation. */
export async function invite(
  terms: InvitationTerms = TERMS,
): Promise<ParsedInvitation> {
  const now = () => NOW;
  return await createInvitation({ issuer: ISSUER, key: orgKey, terms, now });
}

/** The header of a valid invitation. */
export const HEADER = {
  alg: "EdDSA",
  typ: "sig-invitation+jwt",
  kid: "orgsign-1",
};

/** The claims of a valid invitation. */
export const CLAIMS = {
  iss: ISSUER,
  jti: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 86_400,
  relationship_type: "employee",
  roles: ["deploy"],
};
