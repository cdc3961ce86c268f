/** What the routes of the gate share. @module */

import type { Records } from "@sig/consumer/store";
import type { HostCookie } from "../sessions/cookies.ts";
import type { ProviderContext } from "../openid/provider_context.ts";
import type { Session } from "../sessions/session.ts";
import type { GateHost, GateHosts } from "./gate_hosts.ts";

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
  /** What names the session at a host; browsers send it to the other ports, too. */
  readonly gateCookie: (host: GateHost) => HostCookie;
  /** On each host: names the browser while somebody logs in. */
  readonly beginCookie: HostCookie;
  /** How old the issuer's word may be, in milliseconds. */
  readonly maxAgeMs: number;
}

/** What the proxy is told, and so what the person is asked to grant. */
export const GATE_SCOPES: readonly string[] = Object.freeze([
  ...["openid", "profile", "groups"],
]);

/** Whether the person kept nothing of it back at the login. */
export function isGranted({ withheld = [] }: Session): boolean {
  return !GATE_SCOPES.some((each) => withheld.includes(each));
}

/**
 * The host that a request is about, by the word of the proxy in front of us, else
 * its own. Whoever forges it is shown no more than what they have a cookie for:
 * each is good on its own host alone.
 */
export function gateHostOf(
  { headers, url }: Request,
  hosts: GateHosts,
): GateHost | undefined {
  const said = headers.get("x-forwarded-host") ?? headers.get("host");
  return hosts.find(said ?? new URL(url).host);
}
