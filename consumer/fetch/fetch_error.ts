/** Errors of a fetch. @module */

import {
  type ErrorCode,
  type ErrorContext,
  isSigError,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { FetchLimits } from "./fetch_options.ts";
import { WaitTimeout } from "./transport.ts";

/** Maximum length of a URL in an error's context, in characters. */
const MAX_SHOWN_URL = 300;

/** Maximum length of a host name in a hint: the limit of DNS. */
const MAX_SHOWN_HOST = 253;

/**
 * Makes the error "Cannot fetch <url>: why", with the URL in the context. The
 * query of the URL is left out.
 */
export function fetchError(
  code: ErrorCode,
  url: URL,
  why: string,
  context: ErrorContext = {},
  cause?: unknown,
): SigError {
  const shown = url.origin + url.pathname;
  return new SigError(code, {
    action: `fetch ${quote(shown)}`,
    reason: why,
    context: { url: shown.slice(0, MAX_SHOWN_URL), ...context },
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * The kinds of failure below HTTP, by the platform's error code. The first
 * match applies.
 */
const FAILURES: readonly (readonly [RegExp, kind: string, why: string])[] = [
  [
    /^(?:ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/,
    "dns",
    "the host name does not resolve",
  ],
  [/^ECONNREFUSED$/, "refused", "the connection was refused"],
  [
    /^(?:ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/,
    "unreachable",
    "the host is unreachable",
  ],
  [
    /^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/,
    "closed",
    "the connection was closed before the answer was complete",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "tls",
    "the server's certificate is for another name",
  ],
  [
    /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
    "tls",
    "the server's certificate is not valid now",
  ],
  [
    /CERT|SIGNATURE|ISSUER/,
    "tls",
    "the server's certificate is not trusted",
  ],
  [/^(?:ERR_SSL|ERR_TLS|EPROTO)/, "tls", "the TLS handshake failed"],
  [/^HPE_HEADER_OVERFLOW$/, "http", "the answer's header is too large"],
  [/^HPE_/, "http", "the answer is not proper HTTP"],
  [/(?:)/, "network", "the connection failed"],
];

/**
 * Converts an error of a transport to a SigError: `fetch_timeout` or
 * `fetch_failed`, with the kind of failure. The platform's message is kept in
 * `cause` only. Returns a SigError, and the reason of the caller's abort,
 * unchanged.
 */
export function toFetchError(
  error: unknown,
  url: URL,
  limits: FetchLimits,
  signal: AbortSignal | undefined,
): unknown {
  if (isSigError(error)) return error;
  if (signal?.aborted && error === signal.reason) return error;
  if (error instanceof WaitTimeout) {
    const [limit, why] = error.scope === "wait"
      ? [limits.connectTimeoutMs, "no connection within"] as const
      : [limits.totalTimeoutMs, "the answer took more than"] as const;
    const context = { limit_ms: limit };
    return fetchError(
      "fetch_timeout",
      url,
      `${why} ${limit} ms`,
      context,
      error,
    );
  }
  const { code, name, syscall } = error as {
    readonly [name in "code" | "name" | "syscall"]?: unknown;
  };
  if (code === "ETIMEDOUT") {
    const why = "the connection timed out";
    return fetchError("fetch_timeout", url, why, {}, error);
  }
  if (isNotPermitted(name, code, syscall)) {
    // Deno checks the permission for the name when it resolves it, and for each
    // address when it connects.
    const host = url.hostname.slice(0, MAX_SHOWN_HOST);
    const why = "this program may not connect to the host's addresses";
    return fetchError("fetch_failed", url, why, {
      kind: "permission",
      hint: `Run it with --allow-net=${host} and the addresses of that name ` +
        "in the same list, since it is resolved first; or with --allow-net " +
        "alone.",
    }, error);
  }
  const text = typeof code === "string" ? code : "";
  const [, kind, why] = FAILURES.find(([pattern]) => pattern.test(text))!;
  return fetchError("fetch_failed", url, why, { kind }, error);
}

/**
 * Deno reports EPERM if it may not resolve a name; no resolver returns EPERM.
 */
function isNotPermitted(
  name: unknown,
  code: unknown,
  syscall: unknown,
): boolean {
  return name === "NotCapable" || name === "PermissionDenied" ||
    (code === "EPERM" && syscall === "getaddrinfo");
}
