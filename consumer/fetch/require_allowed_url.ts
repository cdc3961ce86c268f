/** Checks which URLs may be fetched (docs/protocol.md §10). @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  isPublicAddress,
  isRefusedHostName,
  parseIpBytes,
} from "./public_address.ts";
import { fetchError } from "./fetch_error.ts";

/**
 * Ports of other protocols, as listed by the Fetch standard, and port 0: a URL
 * must not lead to a mail server.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set(
  [0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77]
    .concat([79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119])
    .concat([123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514])
    .concat([515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636])
    .concat([989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190])
    .concat([5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697])
    .concat([10080]),
);

/** A URL that passed the checks of its text. */
interface VettedUrl {
  /** The parsed URL. */
  readonly url: URL;
  /**
   * The IP address without brackets if the host is a literal, else undefined.
   */
  readonly literal: string | undefined;
}

/** Options of {@linkcode requireAllowedUrl}. */
export interface VetUrlOptions {
  /** Allows `http:` and any host. For tests and closed networks. */
  readonly allowPrivate?: boolean | undefined;
}

/**
 * Checks a URL by its text alone: https, no userinfo, and a host that is
 * neither a refused name nor a non-public address. The host is checked as the
 * URL parser reads it, so `0x7f.1`, `2130706433` and full-width digits are
 * 127.0.0.1.
 *
 * @throws {SigError} `invalid_identifier` for a malformed URL, `insecure_url`
 * for scheme and userinfo, `address_not_allowed` for host and port.
 */
export function requireAllowedUrl(
  input: string | URL,
  { allowPrivate = false }: VetUrlOptions = {},
): VettedUrl {
  const url = URL.parse(input);
  if (url === null) {
    // The text of the URL is not shown: it may contain a password.
    throw new SigError("invalid_identifier", {
      action: "fetch",
      reason: "the URL is malformed (expected https://host/path)",
    });
  }
  requireScheme(url, allowPrivate);
  if (url.username !== "" || url.password !== "") {
    throw new SigError("insecure_url", {
      action: `fetch from ${quote(url.host)}`,
      reason:
        "the URL carries a user name or password, which would be sent along",
      context: { host: url.host },
    });
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const literal = parseIpBytes(host) === undefined ? undefined : host;
  if (url.port !== "" && BLOCKED_PORTS.has(Number(url.port))) {
    throw notAllowed(url, `port ${url.port} is that of another protocol`);
  }
  if (!allowPrivate) {
    if (literal !== undefined && !isPublicAddress(literal)) {
      throw notAllowed(url, "the address is not a public one", HINT);
    }
    if (literal === undefined && isRefusedHostName(host)) {
      throw notAllowed(url, "the host name is a local one", HINT);
    }
  }
  return { url, literal };
}

const HINT = "For a test or in a closed network, set allowPrivate.";

function notAllowed(url: URL, why: string, hint?: string): SigError {
  const { host } = url;
  return new SigError("address_not_allowed", {
    action: `fetch from ${quote(host)}`,
    reason: why,
    context: { host, ...(hint === undefined ? {} : { hint }) },
  });
}

function requireScheme(url: URL, allowHttp: boolean): void {
  if (url.protocol === "https:") return;
  if (url.protocol === "http:" && allowHttp) return;
  throw new SigError("insecure_url", {
    action: `fetch over ${quote(url.protocol)}`,
    reason: "only https is allowed",
    context: {
      scheme: url.protocol.slice(0, 40),
      ...(url.protocol === "http:" ? { hint: HINT } : {}),
    },
  });
}

/** Returns every IPv4 and IPv6 address of a host name, as literals. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Resolves the URL's host and checks the addresses. If **any** of them is not
 * public, the name is refused: such a name is either a mistake or an attack by
 * DNS rebinding. (docs/protocol.md §10)
 *
 * @throws {SigError} `address_not_allowed`; `fetch_failed` if there is no
 * address.
 */
export async function resolveAddresses(
  url: URL,
  resolve: Resolve,
  allowPrivate: boolean,
): Promise<readonly string[]> {
  const addresses = await resolve(url.hostname);
  for (const address of addresses) {
    // Anything but a literal would be resolved again, so it is refused with
    // `allowPrivate` too.
    const isAllowed = allowPrivate
      ? parseIpBytes(address) !== undefined
      : isPublicAddress(address);
    if (!isAllowed) {
      const why = "the name leads to an address that is not public";
      throw notAllowed(url, why, allowPrivate ? undefined : HINT);
    }
  }
  if (addresses.length === 0) {
    const why = "the host name has no address";
    throw fetchError("fetch_failed", url, why, { kind: "dns" });
  }
  return addresses;
}
