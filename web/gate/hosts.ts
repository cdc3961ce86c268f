/** The hosts that are protected by forward auth (docs/gate.md). @module */

import type { Records } from "@sig/consumer/store";
import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Session } from "../sessions/session.ts";
import type { Application, SignInContext } from "../sign_in/interaction.ts";
import { invalidRequest } from "../sign_in/oauth.ts";
import { withParameters } from "../sign_in/pages.ts";
import type { OwnerQuota } from "../store/owner_quota.ts";
import { type HostCookie, hostCookie } from "../sessions/cookies.ts";

/** A host protected by forward auth. */
export interface GateHost {
  /** The host name, with the port unless it is the default of the scheme. */
  readonly host: string;
  readonly origin: string;
  /** Its client id as an application that people sign in to. */
  readonly clientId: string;
  /**
   * Whether browsers send the login's own cookie to it: ports do not matter.
   */
  readonly isOwn: boolean;
  /** The session cookie at a host other than the login's own. */
  readonly cookie: HostCookie;
  /** The cookie that identifies the browser at the host during a login. */
  readonly beginCookie: HostCookie;
}

/** The configured hosts. */
export type GateHosts = ReturnType<typeof createGateHosts>;

const NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/;

/**
 * Reads the names of hosts, `HOST[:PORT]`. Without a port, only the default
 * port of the scheme is meant.
 *
 * @param issuer The login's own origin, whose scheme applies to all hosts.
 * @throws {SigError} `invalid_request` for a text that is not a host.
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
      host,
      origin,
      isOwn: hostname === own.hostname,
      // Client ids in a file have no colon, so they can't collide.
      clientId: `gate:${host}`,
      cookie: hostCookie("sig-gate", origin),
      beginCookie: hostCookie("sig-begin", origin),
    },
  ];
  const named = names.map((name) => {
    const url = read(name);
    if (url !== undefined) return hostAt(url);
    throw new SigError("invalid_request", {
      action: `ask for a login at ${quote(name)}`,
      reason: "it must be a host name, with a port at most",
      context: {
        flag: "--gate-host",
        hint: "For example: --gate-host wiki.acme.example.",
      },
    });
  });
  // The login's own host is always included.
  const hosts = new Map([...named, hostAt(own)]);
  return {
    /**
     * Returns the host with this name in any spelling; undefined for unknown
     * hosts. The usual spelling is found without parsing.
     */
    find: (host: string) =>
      hosts.get(host) ?? hosts.get(read(host)?.host ?? ""),
    /** Each host as an application, which pages display. */
    applications: new Map<string, Application>(
      Array.from(hosts.values(), ({ clientId: client_id, host }) => [
        client_id,
        { client_id, client_name: host, require: [] },
      ]),
    ),
  };
}

/** Maximum length of an address in characters. */
const MAX_LENGTH = 4_096;

/**
 * Reads a query whose last parameter is `rd`, percent-encoded or raw: nginx
 * can't encode it, so a raw value may contain `&`.
 *
 * @param url The URL of the request.
 * @returns The parameters before `rd`, and the address in `rd`.
 * @throws {OAuthError} `invalid_request` unless the address is at one of the
 * hosts.
 */
export function readGateQuery(url: string, hosts: GateHosts) {
  const [, before = "", raw] = /^[^?]*\?(.*?)(?<=[?&])rd=(.*)$/s.exec(url) ??
    [];
  if (raw === undefined) {
    throw invalidRequest("rd is required: the URL to return to");
  }
  const address = readReturnAddress(
    /^https?%3a/i.test(raw) ? decode(raw.split("&", 1)[0] ?? "") : raw,
    hosts,
  );
  if (address !== undefined) {
    return { before: new URLSearchParams(before), address };
  }
  throw invalidRequest("rd is not a URL of a configured host");
}

/**
 * Returns the address if it is at one of the hosts. Callers use the normalized
 * result, which is the one that was checked.
 */
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
    throw invalidRequest("rd is not percent-encoded correctly");
  }
}

/** A code that logs a browser in to a host. */
export interface GateCode {
  readonly sid: string;
  /** The only host that may use it. */
  readonly host: string;
  /**
   * SHA-256 of the cookie of the requesting browser at the host; absent if not
   * yet known.
   */
  readonly begin_sha256?: string | undefined;
}

/** The state that the routes of the gate share. */
export interface GateContext extends SignInContext {
  readonly hosts: GateHosts;
  /** The codes by their SHA-256 digests. */
  readonly codes: Records<GateCode>;
  /** Limits the unused codes of a person. */
  readonly codesOfPerson: OwnerQuota;
  /** Maximum age of the issuer's state, in milliseconds. */
  readonly maxAgeMs: number;
}

/**
 * Returns the values of a session's cookie at a host, by each sealing key. They
 * are invalid at other hosts, and after the next login in this browser.
 */
export function hostCookiesOf(
  { keys, issuer }: Pick<SignInContext, "keys" | "issuer">,
  { clientId }: GateHost,
  { sid, secret_sha256 }: Session,
): readonly string[] {
  return keys.macsOf(`gate ${issuer} ${clientId} ${sid} ${secret_sha256}`)
    .map((mac) => `${sid}.${mac}`);
}

/** The scopes that the person grants to a proxy. */
export const GATE_SCOPES: readonly string[] = Object.freeze([
  "openid",
  "profile",
  "groups",
]);

/**
 * Returns the host from the proxy's `X-Forwarded-Host`, else that of the
 * request. A client gains nothing by forging it, since a cookie is only valid
 * for its own host.
 */
export function gateHostOf(
  { headers, url }: Request,
  hosts: GateHosts,
): GateHost | undefined {
  const said = headers.get("x-forwarded-host") ?? headers.get("host");
  return hosts.find(said ?? new URL(url).host);
}

/** Returns the address of the login that redirects to `rd` afterwards. */
export function gateLoginUrl(
  issuer: string,
  rd: string,
  begin?: string,
): string {
  return withParameters(`${issuer}/gate/login`, { begin, rd });
}
