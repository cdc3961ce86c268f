/** Parameters and errors of OAuth 2.0 and OpenID Connect. @module */

import { send, type ServiceEnv } from "@sig/api/internal/http";
import type { Context } from "hono";
import { isSigError } from "@sig/core";

/**
 * The codes of RFC 6749 §4.1.2.1, §5.2, RFC 6750 §3.1 and OIDC Core §3.1.2.6.
 */
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

/** An OAuth error for an application. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthCode;
  /** The authentication scheme that the application used. */
  readonly scheme: "Basic" | "Bearer" | undefined;
  /** What the developer of the application should do. */
  readonly advice: string | undefined;

  /** @param message Printable ASCII without quote and backslash. */
  constructor(code: OAuthCode, message: string, { scheme, advice }: {
    readonly scheme?: "Basic" | "Bearer" | undefined;
    readonly advice?: string | undefined;
  } = {}) {
    super(message);
    this.code = code;
    this.scheme = scheme;
    this.advice = advice;
  }
}

/** Returns the error of an invalid request. */
export function invalidRequest(message: string, advice?: string): OAuthError {
  return new OAuthError("invalid_request", message, { advice });
}

/**
 * Converts a thrown value to an OAuth error. If the issuer or store is
 * unavailable, the application may retry.
 */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!isSigError(error) || error.category === "internal") {
    return new OAuthError("server_error", "the server failed");
  }
  // Retrying would not help if the body is too large.
  if (error.category === "usage" || error.code === "body_too_large") {
    return invalidRequest(plain(error.message));
  }
  return new OAuthError(
    "temporarily_unavailable",
    `no answer: ${error.code}; try again`,
  );
}

const STATUS: Partial<Record<OAuthCode, number>> = {
  invalid_client: 401,
  invalid_token: 401,
  temporarily_unavailable: 503,
  server_error: 500,
};

/**
 * Returns the error response to a direct request of an application (RFC 6749
 * §5.2).
 */
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

/** Replaces characters that RFC 6749 does not allow in a description. */
function plain(text: string): string {
  return text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'").slice(0, 500);
}

/** Maximum length of a parameter in characters. */
const MAX_PARAMETER_LENGTH = 4_096;

/** Parameters by name. */
export interface Parameters {
  /** Returns the value; undefined if it is missing or empty. */
  get(name: string): string | undefined;
  /**
   * @param advice What the developer of the application should do.
   * @throws {OAuthError} `invalid_request` if it is missing or empty.
   */
  require(name: string, advice?: string): string;
}

/**
 * Reads the parameters of a request, which must be unique (RFC 6749 §3.1,
 * §3.2), since two programs may use different ones.
 *
 * @throws {OAuthError} `invalid_request`.
 */
export function readParameters(given: URLSearchParams): Parameters {
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (values.has(name)) {
      throw invalidRequest("duplicate parameter");
    }
    if (name.length + value.length > MAX_PARAMETER_LENGTH) {
      throw invalidRequest("a parameter is too long");
    }
    values.set(name, value);
  }
  const get = (name: string) => values.get(name) || undefined;
  return {
    get,
    require(name, advice) {
      const value = get(name);
      if (value !== undefined) return value;
      throw invalidRequest(`${name} is required`, advice);
    },
  };
}

/**
 * Returns the only value of a name, without validating other parameters;
 * undefined for duplicates.
 */
export function onlyValue(
  given: URLSearchParams,
  name: string,
): string | undefined {
  const values = given.getAll(name);
  return values.length === 1 ? values[0] || undefined : undefined;
}
