/** The errors of OAuth 2.0 and OpenID Connect. @module */

import { send, type ServiceEnv } from "@sig/api/http";
import type { Context } from "hono";
import { isSigError } from "@sig/core";

/** The codes of RFC 6749 §4.1.2.1, §5.2, RFC 6750 §3.1 and OIDC Core §3.1.2.6. */
type OAuthCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_token"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied"
  | "login_required"
  | "consent_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "registration_not_supported"
  | "temporarily_unavailable"
  | "server_error";

/** The error that an application gets instead of what it asked for. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  /** The code. */
  readonly code: OAuthCode;
  /** The scheme by which the application tried to prove itself. */
  readonly scheme: "Basic" | "Bearer" | undefined;

  /** @param message printable ASCII without quote and backslash. */
  constructor(code: OAuthCode, message: string, scheme?: "Basic" | "Bearer") {
    super(message);
    this.code = code;
    this.scheme = scheme;
  }
}

/** The error for a request that is wrong. */
export function invalidRequest(message: string): OAuthError {
  return new OAuthError("invalid_request", message);
}

/**
 * The OAuth error of something thrown. An issuer or a store that can't be asked
 * does not refuse: the application may try again.
 */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!isSigError(error)) {
    return new OAuthError("server_error", "it failed; the log says why");
  }
  // The same again would be too large again.
  if (error.category === "usage" || error.code === "body_too_large") {
    return invalidRequest(plain(error.message));
  }
  if (error.category === "internal") {
    return new OAuthError("server_error", "it failed; the log says why");
  }
  return new OAuthError(
    "temporarily_unavailable",
    `could not tell: ${error.code}; try again`,
  );
}

const STATUS: Partial<Record<OAuthCode, number>> = {
  invalid_client: 401,
  invalid_token: 401,
  temporarily_unavailable: 503,
  server_error: 500,
};

/** The response to an application that asked directly (RFC 6749 §5.2). */
export function refuseDirectly(
  c: Context<ServiceEnv>,
  thrown: unknown,
): Response {
  const error = toOAuthError(thrown);
  if (error.code === "server_error") c.set("thrown", thrown);
  const { code, message, scheme } = error;
  const headers: [string, string][] = [["pragma", "no-cache"]];
  if (scheme === "Bearer") {
    headers.push([
      "www-authenticate",
      `Bearer error="${code}", error_description="${message}"`,
    ]);
  } else if (code === "invalid_client" && scheme === "Basic") {
    headers.push(["www-authenticate", 'Basic realm="sig-web"']);
  }
  if (code === "temporarily_unavailable") headers.push(["retry-after", "5"]);
  return send(
    c,
    JSON.stringify({ error: code, error_description: message }),
    "application/json",
    { status: STATUS[code] ?? 400, headers },
  );
}

/** As RFC 6749 allows it in a description. */
function plain(text: string): string {
  return text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'").slice(0, 500);
}
