/** The hosts of applications behind a proxy that asks us (docs/gate.md). @module */

import type { Records } from "@sig/consumer/store";
import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Client } from "../openid/clients.ts";
import { invalidRequest } from "../openid/oauth_error.ts";
import { withParameters } from "../openid/pages.ts";
import type { ProviderContext } from "../openid/provider_context.ts";
import { type HostCookie, hostCookie } from "../sessions/cookies.ts";

/** A host protected by forward auth. */
export interface GateHost {
  /** Its name, with the port unless that is the scheme's own. */
  readonly host: string;
  /** Its origin. */
  readonly origin: string;
  /** What it is called among the applications of a session. */
  readonly clientId: string;
  /** Whether browsers send the login's own cookie to it: ports do not matter. */
  readonly isOwn: boolean;
  /** Names the session at a host other than the login's own. */
  readonly cookie: HostCookie;
  /** Names the browser there while somebody logs in. */
  readonly beginCookie: HostCookie;
}

/** The hosts that the operator named. */
export type GateHosts = ReturnType<typeof createGateHosts>;

const NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/;

/**
 * Reads the names of hosts, `HOST[:PORT]`. One without a port means the port of
 * the scheme alone.
 *
 * @param issuer The login's own origin, whose scheme is that of all hosts.
 * @throws {SigError} `invalid_request` for what is not a host.
 */
export function createGateHosts(names: readonly string[], issuer: string) {
  const own = new URL(issuer);
  const read = (name: string): URL | undefined =>
    NAME.test(name.toLowerCase())
      ? URL.parse(`${own.protocol}//${name}`) ?? undefined
      : undefined;
  const hostAt = ({ host, hostname, origin }: URL): [string, GateHost] => [
    host,
    {
      ...{ host, origin, isOwn: hostname === own.hostname },
      // No client_id of a file has a colon.
      clientId: `gate:${host}`,
      cookie: hostCookie("sig-gate", origin),
      beginCookie: hostCookie("sig-begin", origin),
    },
  ];
  const named = names.map((name) => {
    const url = read(name);
    if (url === undefined) throw refuse(name);
    return hostAt(url);
  });
  // A proxy on the login's very own host needs no further name.
  const hosts = new Map([...named, hostAt(own)]);
  return {
    /**
     * The host of that name, spelled in any way; undefined for all others. Most
     * spell it as it is: then it need not be read.
     */
    find: (host: string) =>
      hosts.get(host) ?? hosts.get(read(host)?.host ?? ""),
    /** Each host as an application: people see one, no protocol is for it. */
    clients: new Map(Array.from(hosts.values(), clientOf)),
  };
}

function clientOf({ clientId, host }: GateHost): readonly [string, Client] {
  return [clientId, {
    client_id: clientId,
    client_name: host,
    auth_methods: [],
    redirect_uris: [],
    post_logout_redirect_uris: [],
    id_token_signed_response_alg: "RS256",
    refresh: false,
    pkce: true,
    require: [],
  }];
}

function refuse(name: string): SigError {
  return new SigError(
    "invalid_request",
    `Cannot ask for a login at ${
      quote(name)
    }: it must be a host name, with a port at most`,
    {
      context: {
        flag: "--gate-host",
        hint: "For example: --gate-host wiki.acme.example.",
      },
    },
  );
}

/** Characters of an address at most. */
const MAX_LENGTH = 4_096;

/**
 * Reads a query whose last parameter is `rd`, percent-encoded or raw: nginx can't
 * encode, so that what follows it may have any `&` in it.
 *
 * @param url The request's address.
 * @returns The parameters before `rd`, and what it says.
 * @throws {OAuthError} `invalid_request` unless it is at one of the hosts.
 */
export function readGateQuery(url: string, hosts: GateHosts) {
  const [, before = "", raw] = /^[^?]*\?(.*?)(?<=[?&])rd=(.*)$/s.exec(url) ??
    [];
  if (raw === undefined) {
    throw invalidRequest("rd must say where to go afterwards");
  }
  const address = readReturnAddress(
    /^https?%3a/i.test(raw) ? decode(raw.split("&", 1)[0] ?? "") : raw,
    hosts,
  );
  if (address !== undefined) {
    return { before: new URLSearchParams(before), address };
  }
  throw invalidRequest("rd leads to no host that this login is for");
}

/** The address, if it is at one of the hosts; what is judged is what is used. */
export function readReturnAddress(text: string, hosts: GateHosts) {
  const url = text.length > MAX_LENGTH ? null : URL.parse(text);
  const host = url === null ? undefined : hosts.find(url.host);
  if (
    url === null || host === undefined || url.origin !== host.origin ||
    url.username !== "" || url.password !== ""
  ) return undefined;
  url.hash = "";
  return { href: url.href, host };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidRequest("rd is not encoded as it must be");
  }
}

/** A code on its way from the login to a host. */
export interface GateCode {
  /** The session. */
  readonly sid: string;
  /** The only host that may use it. */
  readonly host: string;
  /** SHA-256 of the cookie of the browser that asked there; absent: unknown. */
  readonly begin_sha256?: string;
}

/** What the routes of the gate share. */
export interface GateContext extends ProviderContext {
  /** The hosts that it is for. */
  readonly hosts: GateHosts;
  /** Codes by their digests. */
  readonly codes: Records<GateCode>;
  /** How old the issuer's word may be, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The scopes of what the proxy gets, which the person is asked to grant. */
export const GATE_SCOPES: readonly string[] = Object.freeze([
  ...["openid", "profile", "groups"],
]);

/**
 * The host that a request is about, by the word of the proxy in front of us, else
 * its own. A client that forges it is shown no more than what they have a cookie for:
 * each is good on its own host alone.
 */
export function gateHostOf(
  { headers, url }: Request,
  hosts: GateHosts,
): GateHost | undefined {
  const said = headers.get("x-forwarded-host") ?? headers.get("host");
  return hosts.find(said ?? new URL(url).host);
}

/** The address that logs a browser in and leads to another one. */
export function gateLoginUrl(
  issuer: string,
  rd: string,
  begin?: string,
): string {
  return withParameters(`${issuer}/gate/login`, { begin, rd });
}
