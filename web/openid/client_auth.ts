/**
 * Authenticates applications at the token endpoint (OIDC Core §9, RFC 6749
 * §2.3).
 *
 * @module
 */

import { recordsOf } from "@sig/consumer/store";
import { equalInConstantTime } from "@sig/jose/internal";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { sha256Base64Url } from "../store/digest.ts";
import { assertionKind } from "../store/kinds.ts";
import {
  invalidRequest,
  OAuthError,
  type Parameters,
} from "../sign_in/oauth.ts";
import type { AuthMethod, Client } from "./clients.ts";
import { toJose } from "./keys.ts";
import type { ProviderContext } from "./provider_context.ts";

/** The supported signing algorithms of assertions. */
export const ASSERTION_ALGORITHMS: readonly string[] = Object.freeze([
  "RS256",
  "PS256",
  "ES256",
  "EdDSA",
]);

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/**
 * Maximum lifetime of an assertion in seconds; its id is stored until it
 * expires.
 */
const MAX_ASSERTION_SECONDS = 600;

/**
 * Returns the application that sent a request. It must use exactly one of its
 * registered authentication methods.
 *
 * @throws {OAuthError} `invalid_client`, `invalid_request`.
 */
export async function authenticateClient(
  headers: Headers,
  parameters: Parameters,
  context: ProviderContext,
): Promise<Client> {
  const authorization = headers.get("authorization");
  const assertion = parameters.get("client_assertion");
  const secret = parameters.get("client_secret");
  const id = parameters.get("client_id");
  const ways = [authorization ?? undefined, assertion, secret]
    .filter((each) => each !== undefined);
  if (ways.length > 1) {
    throw invalidRequest("use only one client authentication method");
  }
  if (authorization !== null) {
    const [user, password] = readBasic(authorization);
    if (id !== undefined && id !== user) {
      throw invalidRequest("client_id differs from the authenticated client");
    }
    return bySecret(user, password, "client_secret_basic", context);
  }
  if (assertion !== undefined) {
    return await byAssertion(assertion, parameters, context);
  }
  if (id === undefined) throw refuse();
  if (secret !== undefined) {
    return bySecret(id, secret, "client_secret_post", context);
  }
  const client = context.clients().get(id);
  if (client?.auth_methods.includes("none")) return client;
  throw refuse();
}

/**
 * Reads HTTP Basic credentials; id and secret are form-encoded (RFC 6749
 * §2.3.1).
 */
function readBasic(authorization: string): readonly [string, string] {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i
    .exec(authorization) ?? [];
  try {
    const bytes = Uint8Array.fromBase64(encoded ?? "");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const [, id, secret] = /^([^:]+):(.+)$/s.exec(text) ?? [];
    if (id !== undefined && secret !== undefined) {
      const decode = (part: string) =>
        decodeURIComponent(part.replaceAll("+", " "));
      return [decode(id), decode(secret)];
    }
  } catch {
    // Reported below, without the client's input.
  }
  throw refuse("Basic");
}

/**
 * The digest to compare for unknown clients, which keeps the response time
 * equal.
 */
const NO_DIGEST = "A".repeat(43);

function bySecret(
  id: string,
  secret: string,
  method: AuthMethod,
  { clients }: ProviderContext,
): Client {
  const client = clients().get(id);
  const expected = client?.client_secret_sha256 ?? NO_DIGEST;
  const isRight = equalInConstantTime(sha256Base64Url(secret), expected);
  if (
    client?.client_secret_sha256 && isRight &&
    client.auth_methods.includes(method)
  ) return client;
  throw refuse(method === "client_secret_basic" ? "Basic" : undefined);
}

/** Authenticates by an assertion (RFC 7523 §3), which is accepted once. */
async function byAssertion(
  assertion: string,
  parameters: Parameters,
  { clients, issuer, store, now }: ProviderContext,
): Promise<Client> {
  if (parameters.get("client_assertion_type") !== ASSERTION_TYPE) {
    throw invalidRequest(`client_assertion_type must be ${ASSERTION_TYPE}`);
  }
  const at = now();
  let client, payload;
  try {
    client = clients().get(decodeJwt(assertion).sub ?? "");
    if (!client?.jwks || !client.auth_methods.includes("private_key_jwt")) {
      throw refuse();
    }
    const named = parameters.get("client_id");
    if (named !== undefined && named !== client.client_id) throw refuse();
    const keys = createLocalJWKSet(toJose(client.jwks));
    ({ payload } = await jwtVerify(assertion, keys, {
      algorithms: [...ASSERTION_ALGORITHMS],
      issuer: client.client_id,
      subject: client.client_id,
      audience: [issuer, `${issuer}/oidc/token`],
      requiredClaims: ["exp", "jti"],
      currentDate: at,
      clockTolerance: 30,
    }));
  } catch {
    throw refuse();
  }
  const lifeSeconds = payload.exp! - at.getTime() / 1000;
  // Only a single audience: an assertion for several servers could be replayed
  // at another one.
  if (
    lifeSeconds > MAX_ASSERTION_SECONDS || typeof payload.aud !== "string" ||
    typeof payload.jti !== "string" || payload.jti === ""
  ) throw refuse();
  const id = sha256Base64Url(payload.jti);
  const until = new Date((payload.exp! + 60) * 1000);
  const used = recordsOf<true>(store, assertionKind(client.client_id));
  if (await used.create(id, true, until, at)) return client;
  throw refuse();
}

function refuse(scheme?: "Basic"): OAuthError {
  const message = "client authentication failed";
  return new OAuthError("invalid_client", message, { scheme });
}
