/**
 * The claims about a person, and the ID tokens and logout tokens that have them
 * (OIDC Core §2, Back-Channel Logout §2.4).
 *
 * @module
 */

import { encodeBase64Url } from "@sig/jose/internal";
import { compactVerify, createLocalJWKSet, type JWTPayload } from "jose";
import { nodeCrypto } from "../store/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import { invalidRequest } from "../sign_in/oauth.ts";
import { groupsOf, type Naming, shownNameOf } from "../sign_in/person.ts";
import type { Client } from "./clients.ts";
import { TOKEN_LIFE_SECONDS } from "./grants.ts";
import {
  type ProviderKeys,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
  toJose,
} from "./keys.ts";

/** The supported scopes. */
export const SCOPES: readonly string[] = Object.freeze([
  "openid",
  "profile",
  "groups",
  "offline_access",
]);

/** The names of all supported claims. */
export const CLAIMS: readonly string[] = Object.freeze([
  ...["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "sid"],
  ...["at_hash", "amr", "name", "preferred_username", "groups", "roles", "sig"],
]);

/** A person to create claims for. */
interface Described {
  /** The person's root DID (docs/protocol.md §4.1). */
  readonly subject: string;
  /** The relationship with the issuer. */
  readonly relationship: MatchedRelationship;
  /** The granted scopes. */
  readonly scope: readonly string[];
}

/**
 * Returns the claims about a person, which ID tokens and userinfo share. The
 * person can't choose any of them, since applications link accounts by claims;
 * that is also why there is no e-mail address.
 */
export function claimsOf(
  { subject, relationship, scope }: Described,
  names: Naming = {},
): Record<string, unknown> {
  const { issuer, relationship_id, type, roles, sequence } = relationship;
  const claims: Record<string, unknown> = { sub: subject, amr: ["pop"] };
  if (scope.includes("profile")) {
    claims.preferred_username = shownNameOf(subject, names.usernameOf);
    claims.name = shownNameOf(subject, names.nameOf);
  }
  if (scope.includes("groups")) {
    claims.groups = groupsOf(relationship);
    claims.roles = roles;
    claims.sig = { issuer, relationship_id, type, roles, sequence };
  }
  return claims;
}

export interface Signer {
  /** The issuer identifier. */
  readonly issuer: string;
  /** The provider's keys. */
  readonly keys: ProviderKeys;
  readonly now: () => Date;
}

/**
 * Signs an ID token for an application; undefined claims are omitted.
 *
 * @param accessToken The access token that is issued with it.
 */
export function signIdToken(
  signer: Signer,
  { client_id, id_token_signed_response_alg: alg }: Client,
  claims: Record<string, unknown>,
  accessToken: string,
): Promise<string> {
  // No specification defines the hash of at_hash for EdDSA.
  const at_hash = alg === "EdDSA" ? undefined : halfDigest(accessToken);
  const payload = { ...claims, aud: client_id, at_hash };
  return sign(signer, alg, "JWT", payload, TOKEN_LIFE_SECONDS);
}

/**
 * Signs the logout token that notifies an application of the end of a session.
 */
export function signLogoutToken(
  signer: Signer,
  { client_id, id_token_signed_response_alg: alg }: Client,
  { subject, sid }: { readonly subject: string; readonly sid: string },
): Promise<string> {
  return sign(signer, alg, "logout+jwt", {
    sub: subject,
    aud: client_id,
    sid,
    jti: crypto.randomUUID(),
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  }, 120);
}

function sign(
  { issuer, keys, now }: Signer,
  alg: SigningAlgorithm,
  typ: "JWT" | "logout+jwt",
  payload: Record<string, unknown>,
  lifeSeconds: number,
): Promise<string> {
  const iat = Math.floor(now().getTime() / 1000);
  const claims = { iss: issuer, ...payload, iat, exp: iat + lifeSeconds };
  return keys.sign({ alg, typ }, claims);
}

function halfDigest(text: string): string {
  const digest = nodeCrypto().createHash("sha256").update(text).digest();
  return encodeBase64Url(digest.subarray(0, 16));
}

/** The claims of an ID token that this provider signed; `sid` may be absent. */
export type Hint = Awaited<ReturnType<typeof readHint>>;

/**
 * Verifies an ID token that an application sends as a hint. It may have
 * expired.
 *
 * @throws {OAuthError} `invalid_request` for any other fault.
 */
export async function readHint({ issuer, keys }: Signer, token: string) {
  try {
    const { payload, protectedHeader } = await compactVerify(
      token,
      createLocalJWKSet(toJose(keys.jwks)),
      { algorithms: [...SIGNING_ALGORITHMS] },
    );
    const claims: JWTPayload = JSON.parse(new TextDecoder().decode(payload));
    const { iss, sub, aud, sid } = claims;
    if (
      iss === issuer && protectedHeader.typ === "JWT" &&
      typeof sub === "string" && typeof aud === "string"
    ) return { sub, aud, sid: typeof sid === "string" ? sid : undefined };
  } catch {
    // Reported below, without any part of the token.
  }
  throw invalidRequest("id_token_hint is not an ID token of this provider");
}
