/** The errors of a fetch. @module */

import { type ErrorContext, isSigError, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { WaitTimeout } from "./network_budget.ts";

/** The codes that only fetching gives. */
export type FetchErrorCode =
  | "fetch_failed"
  | "fetch_timeout"
  | "fetch_status"
  | "fetch_redirected"
  | "fetch_media_type"
  | "document_too_large"
  | "feed_too_large";

/** Longest URL that an error's context carries. */
const MAX_SHOWN_URL = 300;

/** Longest host name that an error's hint carries: that of DNS. */
const MAX_SHOWN_HOST = 253;

/** "Cannot fetch <url>: why", with the URL in the context. No query is shown. */
export function fetchError(
  code: FetchErrorCode,
  url: URL,
  why: string,
  context: ErrorContext = {},
  cause?: unknown,
): SigError {
  const shown = url.origin + url.pathname;
  return new SigError(code, `Cannot fetch ${quote(shown)}: ${why}`, {
    context: { url: shown.slice(0, MAX_SHOWN_URL), ...context },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What went wrong below HTTP, in a closed list of words. */
interface Failure {
  readonly kind: string;
  readonly why: string;
  readonly hint?: string;
}

const FAILURES: readonly (readonly [RegExp, Failure])[] = [
  [/^(?:ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, {
    kind: "dns",
    why: "the host name does not resolve",
  }],
  [/^ECONNREFUSED$/, { kind: "refused", why: "the connection was refused" }],
  [/^(?:ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/, {
    kind: "unreachable",
    why: "the host is unreachable",
  }],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, {
    kind: "closed",
    why: "the connection was closed before the answer was complete",
  }],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, {
    kind: "tls",
    why: "the server's certificate is for another name",
  }],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, {
    kind: "tls",
    why: "the server's certificate is not valid now",
  }],
  [/CERT|SIGNATURE|ISSUER/, {
    kind: "tls",
    why: "the server's certificate is not trusted",
  }],
  [/^(?:ERR_SSL|ERR_TLS|EPROTO)/, {
    kind: "tls",
    why: "the TLS handshake failed",
  }],
  [/^HPE_HEADER_OVERFLOW$/, {
    kind: "http",
    why: "the answer's header is too large",
  }],
  [/^HPE_/, { kind: "http", why: "the answer is not proper HTTP" }],
];

/** Deno's permissions: names are resolved first, and addresses connected to. */
function noPermission({ hostname }: URL): Failure {
  return {
    kind: "permission",
    why: "this program may not connect to the host's addresses",
    hint: `Run it with --allow-net=${hostname.slice(0, MAX_SHOWN_HOST)} and ` +
      "the addresses of that name in the same list, since it is resolved " +
      "first; or with --allow-net alone.",
  };
}

/**
 * Turns whatever a transport throws into a SigError: `fetch_timeout` or
 * `fetch_failed`, with the kind of failure. The text of the platform stays in
 * the `cause`. SigErrors, and the reason of the caller's own abort, pass.
 */
export function toFetchError(
  error: unknown,
  url: URL,
  limits: {
    readonly totalTimeoutMs: number;
    readonly connectTimeoutMs: number;
  },
  signal?: AbortSignal,
): unknown {
  if (isSigError(error)) return error;
  if (signal?.aborted && error === signal.reason) return error;
  if (error instanceof WaitTimeout) {
    const limit = error.scope === "wait"
      ? limits.connectTimeoutMs
      : limits.totalTimeoutMs;
    const why = error.scope === "wait"
      ? `no connection within ${limit} ms`
      : `the answer took more than ${limit} ms`;
    return fetchError("fetch_timeout", url, why, { limit_ms: limit }, error);
  }
  const { code, name, syscall } = error as {
    readonly [name in "code" | "name" | "syscall"]?: unknown;
  };
  if (code === "ETIMEDOUT") {
    const why = "the connection timed out";
    return fetchError("fetch_timeout", url, why, {}, error);
  }
  const { kind, why, hint } = isNotPermitted(name, code, syscall)
    ? noPermission(url)
    : classify(code);
  const context = { kind, ...(hint === undefined ? {} : { hint }) };
  return fetchError("fetch_failed", url, why, context, error);
}

/** Deno says EPERM where a name may not be resolved; no resolver does. */
function isNotPermitted(
  name: unknown,
  code: unknown,
  syscall: unknown,
): boolean {
  return name === "NotCapable" || name === "PermissionDenied" ||
    (code === "EPERM" && syscall === "getaddrinfo");
}

function classify(code: unknown): Failure {
  const text = typeof code === "string" ? code : "";
  const row = FAILURES.find(([pattern]) => pattern.test(text));
  return row?.[1] ?? { kind: "network", why: "the connection failed" };
}
