/** Who may ask a service: by which name, from which page, with which token. @module */

import { SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose";
import type { AllowOrigin } from "./cors.ts";
import { createHostList } from "./host_list.ts";
import { hostsOf } from "./hosts_of.ts";
import { splitUrl } from "./split_url.ts";

/** What {@linkcode createGate} is told. */
export interface GateOptions {
  /** The only names in `Host` that are answered; every one unless told. */
  readonly hosts?: readonly string[] | undefined;
  /** The bearer token that requests must carry; none unless told. */
  readonly token?: string | undefined;
  /** Origins whose pages may ask (CORS); none unless told. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Whether pages of a further origin may ask what is at a path; none unless told. */
  readonly allowOrigin?: AllowOrigin | undefined;
}

/** Who is let in. */
export interface Gate {
  /** Throws `invalid_request` or `host_not_allowed`. */
  requireHost(request: Request): void;
  /** Throws `origin_not_allowed`. */
  requireSameSite(request: Request): void;
  /** Throws `unauthorized`. */
  requireToken(headers: Headers): void;
}

/**
 * Makes the gate.
 *
 * @throws {SigError} `invalid_request` for a host, origin or token that is none.
 */
export function createGate(options: GateOptions): Gate {
  const isKnownHost = options.hosts && createHostList(options.hosts);
  const origins = new Set(options.corsOrigins);
  const { token } = options;
  if (token !== undefined) requireTokenText(token);
  // Nearly every request names the same host as the one before.
  let letIn: string | undefined;
  return {
    requireHost(request) {
      const { host } = splitUrl(request.url);
      const header = request.headers.get("host");
      if (host === letIn && (header === null || header === letIn)) return;
      const hosts = hostsOf(request);
      if (hosts === undefined) throw hostInvalid();
      if (isKnownHost === undefined || hosts.every(isKnownHost)) {
        if (header === null || header === host) letIn = host;
        return;
      }
      throw new SigError(
        "host_not_allowed",
        "Cannot answer: this server is not known by that name",
        {
          context: {
            hint: "The operator adds a name with --host, for a proxy's sake.",
          },
        },
      );
    },
    requireSameSite(request) {
      if (request.method === "GET" || request.method === "HEAD") return;
      if (request.headers.get("sec-fetch-site") !== "cross-site") return;
      const origin = request.headers.get("origin");
      if (origin !== null && origins.has(origin)) return;
      const { path } = splitUrl(request.url);
      if (origin !== null && options.allowOrigin?.(origin, path)) return;
      throw new SigError(
        "origin_not_allowed",
        "Cannot answer: a page of another site asks",
        {
          context: { hint: "The operator allows a site with --cors-origin." },
        },
      );
    },
    requireToken(headers) {
      if (token === undefined) return;
      const [, given] = /^Bearer +([^ ]+) *$/i.exec(
        headers.get("authorization") ?? "",
      ) ?? [];
      if (given !== undefined && equalInConstantTime(given, token)) return;
      throw new SigError(
        "unauthorized",
        "Cannot answer: a bearer token is needed",
        {
          context: { hint: "Send the header authorization: Bearer <token>." },
        },
      );
    },
  };
}

function hostInvalid(): SigError {
  return new SigError(
    "invalid_request",
    "Cannot answer: the header host must be a name or an address, with a port at most",
    { context: { hint: "For example: host: sig.acme.example" } },
  );
}

/** RFC 6750: another one could never be sent, or would be sent empty. */
function requireTokenText(token: string): void {
  if (/^[\x21-\x7e]+$/.test(token)) return;
  throw new SigError(
    "invalid_request",
    "Cannot ask for a token: it must be printable ASCII without white space",
    { context: { hint: "For example: openssl rand -hex 32." } },
  );
}
