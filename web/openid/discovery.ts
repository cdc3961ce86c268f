/** The metadata of the provider (OIDC Discovery 1.0, RFC 8414). @module */

import { isLoopback } from "@sig/api/program";
import { SigError } from "@sig/core";
import { RESPONSE_MODES } from "./answer_client.ts";
import { ASSERTION_ALGORITHMS } from "./client_auth.ts";
import { AUTH_METHODS } from "./clients.ts";
import { CLAIMS, SCOPES } from "./id_token.ts";
import { SIGNING_ALGORITHMS } from "./keys.ts";

/** Returns the metadata of the provider. */
export function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oidc/authorize`,
    token_endpoint: `${issuer}/oidc/token`,
    userinfo_endpoint: `${issuer}/oidc/userinfo`,
    jwks_uri: `${issuer}/oidc/jwks`,
    revocation_endpoint: `${issuer}/oidc/revoke`,
    end_session_endpoint: `${issuer}/oidc/logout`,
    scopes_supported: SCOPES,
    claims_supported: CLAIMS,
    response_types_supported: ["code"],
    response_modes_supported: RESPONSE_MODES,
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
    code_challenge_methods_supported: ["S256"],
    prompt_values_supported: ["none", "login", "consent", "select_account"],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

/**
 * Returns the issuer identifier: the first https audience, else the first http
 * audience on a loopback address; undefined if there is neither.
 */
export function findIssuerIdentifier(
  audiences: readonly string[],
): string | undefined {
  return audiences.find((each) => each.startsWith("https://")) ??
    audiences.find((each) => {
      const url = URL.parse(each);
      return url?.protocol === "http:" && isLoopback(hostnameOf(url));
    });
}

/**
 * Returns the issuer identifier of {@linkcode findIssuerIdentifier}, or throws.
 *
 * @throws {SigError} `invalid_request` if no audience is suitable.
 */
export function requireIssuerIdentifier(audiences: readonly string[]): string {
  const found = findIssuerIdentifier(audiences);
  if (found !== undefined) return found;
  throw new SigError("invalid_request", {
    action: "be an OpenID Provider",
    reason: "an audience must be an https origin",
    context: {
      flag: "--audience",
      hint: "For example: https://login.acme.example.",
    },
  });
}

/** Returns the host name without the brackets of an IPv6 address. */
function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
