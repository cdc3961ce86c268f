/** Where people go after a login at a gate. @module */

import { OAuthError } from "../openid/oauth_error.ts";
import type { GateHost, GateHosts } from "./gate_hosts.ts";

/** An address behind a gate. */
export interface ReturnAddress {
  /** The address, as a browser will read it. */
  readonly href: string;
  /** Its host. */
  readonly host: GateHost;
}

/** What a query says before its last parameter, `rd`. */
export interface GateQuery {
  /** All parameters before it. */
  readonly before: URLSearchParams;
  /** What `rd` says. */
  readonly address: ReturnAddress;
}

/** Characters of an address at most. */
const MAX_LENGTH = 4_096;

/**
 * Reads a query whose last parameter is `rd`, percent-encoded or raw: nginx can't
 * encode, so that what follows it may have any `&` in it.
 *
 * @param url The request's address.
 * @throws {OAuthError} `invalid_request` unless it is at one of the hosts.
 */
export function readGateQuery(url: string, hosts: GateHosts): GateQuery {
  const [, before = "", raw] = /^[^?]*\?(.*?)(?<=[?&])rd=(.*)$/s.exec(url) ??
    [];
  if (raw === undefined) throw refuse("rd must say where to go afterwards");
  const address = readReturnAddress(
    /^https?%3a/i.test(raw) ? decode(raw.split("&", 1)[0] ?? "") : raw,
    hosts,
  );
  if (address !== undefined) {
    return { before: new URLSearchParams(before), address };
  }
  throw refuse("rd leads to no host that this login is for");
}

/** The address, if it is at one of the hosts; what is judged is what is used. */
export function readReturnAddress(
  text: string,
  hosts: GateHosts,
): ReturnAddress | undefined {
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
    throw refuse("rd is not encoded as it must be");
  }
}

function refuse(why: string): OAuthError {
  return new OAuthError("invalid_request", why);
}
