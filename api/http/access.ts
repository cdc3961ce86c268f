/** Access to a service: host names, cross-site requests, and the bearer token. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { equalInConstantTime } from "@sig/jose/internal";
import type { Context, MiddlewareHandler } from "hono";

/** A host name or address with an optional port (RFC 9112 §3.2). */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::[0-9]{1,5})?$/i;
/** A valid entry of the Host list. */
const LISTED = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/;

/** Authority and path of an absolute http URL, unchanged. */
export function splitUrl(
  url: string,
): { readonly host: string; readonly path: string } {
  const [, host = "", path = ""] = /^[^/]*\/\/([^/?#]*)([^?#]*)/.exec(url) ??
    [];
  return { host, path };
}

/**
 * Returns the hosts of a request: that of its URL, and that of its header if it
 * differs, since an absolute target in the request line replaces it (RFC 9112
 * §3.2.2). Returns `undefined` if one of them is not a valid host: it would
 * shift where the path of the URL begins (`Host: a/docs#`), so the URL must not
 * be used, and the response is 400 (§3.2).
 *
 * @example
 * ```ts
 * import { hostsOf } from "@sig/api";
 * import { assertEquals } from "@std/assert";
 *
 * const ask = (host: string) =>
 *   new Request("http://127.0.0.1/", { headers: { host } });
 * assertEquals(hostsOf(ask("a.example")), ["127.0.0.1", "a.example"]);
 * assertEquals(hostsOf(ask("a.example/docs#")), undefined);
 * ```
 */
export function hostsOf(request: Request): readonly string[] | undefined {
  const header = request.headers.get("host");
  const { host } = splitUrl(request.url);
  const hosts = header === null || header === host ? [host] : [host, header];
  const areHosts = hosts.every((each) =>
    HOST.test(each) && URL.canParse(`http://${each}/`)
  );
  return areHosts ? hosts : undefined;
}

/**
 * Creates the check of a request's host, against DNS rebinding: a web page can
 * point its own name at 127.0.0.1, but its browser still sends that name. An
 * entry without a port matches every port.
 *
 * @param names The allowed names (default: all).
 * @throws {SigError} `invalid_request` for an invalid name; from the function
 * `invalid_request` or `host_not_allowed`.
 */
export function requireHost(
  names?: readonly string[],
): (request: Request) => void {
  const known = names && new Set(names.map(readHost));
  const isKnown = (host: string) => {
    const [, name, port] = LISTED.exec(host.toLowerCase()) ?? [];
    if (name === undefined) return false;
    return known!.has(name) || known!.has(`${name}:${port ?? "80"}`);
  };
  // Most requests name the same host and path as the previous one.
  let last: { readonly url: string; readonly host: string | null } | undefined;
  return (request) => {
    const { url } = request;
    const host = request.headers.get("host");
    if (url === last?.url && host === last.host) return;
    const hosts = hostsOf(request);
    if (hosts === undefined) {
      throw new SigError("invalid_request", {
        action: "answer",
        reason:
          "the header host must be a name or an address, with a port at most",
        context: { hint: "For example: host: sig.acme.example" },
      });
    }
    if (known !== undefined && !hosts.every(isKnown)) {
      throw new SigError("host_not_allowed", {
        action: "answer",
        reason: "this server is not known by that name",
        context: {
          hint: "The operator adds a name with --host, for a proxy's sake.",
        },
      });
    }
    last = { url, host };
  };
}

function readHost(entry: string): string {
  const host = entry.toLowerCase();
  if (LISTED.test(host)) return host;
  throw new SigError("invalid_request", {
    action: `answer to ${quote(entry)}`,
    reason: "it must be a host name, with a port at most",
    context: { flag: "--host", hint: "For example: sig.acme.example" },
  });
}

/**
 * Rejects requests that pages of other sites send, unless their origin is
 * allowed. Following a link is allowed.
 *
 * @throws {SigError} `origin_not_allowed`
 */
export function requireSameSite(
  request: Request,
  isAllowed: (origin: string, request: Request) => boolean,
): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  if (request.headers.get("sec-fetch-site") !== "cross-site") return;
  const origin = request.headers.get("origin");
  if (origin !== null && isAllowed(origin, request)) return;
  throw new SigError("origin_not_allowed", {
    action: "answer",
    reason: "a page of another site asks",
    context: { hint: "The operator allows a site with --cors-origin." },
  });
}

/** Returns whether a request carries this bearer token (RFC 6750). */
export function hasToken({ headers }: Request, token: string): boolean {
  const [, given] =
    /^Bearer +([^ ]+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
  return given !== undefined && equalInConstantTime(given, token);
}

/**
 * Creates a middleware that requires this bearer token. A client that has it
 * may use all places of the service.
 *
 * @throws {SigError} `invalid_request` for a token that can't be sent (RFC
 * 6750); from the middleware `unauthorized`.
 */
export function requireToken(token: string): MiddlewareHandler {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new SigError("invalid_request", {
      action: "ask for a token",
      reason: "it must be printable ASCII without white space",
      context: { hint: "For example: openssl rand -hex 32." },
    });
  }
  return async (c: Context, next) => {
    if (!hasToken(c.req.raw, token)) {
      throw new SigError("unauthorized", {
        action: "answer",
        reason: "a bearer token is needed",
        context: { hint: "Send the header authorization: Bearer <token>." },
      });
    }
    c.get("budget")?.trust();
    await next();
  };
}
