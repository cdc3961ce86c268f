/** Client addresses, and the rate limit of each client. @module */

import type * as nodeNet from "node:net";
import { SigError } from "@sig/core";
import { quote, trimOws } from "@sig/core/internal";
import { loadBuiltin } from "@sig/jose/internal";

interface ConnectionInfo {
  readonly remoteAddr?: { readonly hostname?: unknown };
}

/** Returns a request's client address; undefined if unknown. */
export type ClientAddress = (
  headers: Headers,
  info: unknown,
) => string | undefined;

/** The address of the socket. */
function socketAddress(info: unknown): string | undefined {
  const hostname = (info as ConnectionInfo | undefined)?.remoteAddr?.hostname;
  return typeof hostname === "string" ? plain(hostname) : undefined;
}

/** A dual-stack socket reports IPv4 as `::ffff:192.0.2.1`. */
function plain(address: string): string {
  return address.startsWith("::")
    ? address.replace(/^::ffff:(?=\d+\.)/i, "")
    : address;
}

/**
 * Creates the function that returns the client's address. `X-Forwarded-For` is
 * trusted only from proxies in one of the networks, and read from its end: a
 * client may have invented whatever precedes the last address that no trusted
 * proxy wrote.
 *
 * @param trustProxy Networks such as `10.0.0.0/8`; if empty, the socket's
 * address is used.
 * @throws {SigError} `invalid_request` for an invalid network.
 */
export function createClientAddress(
  trustProxy: readonly string[] = [],
): ClientAddress {
  if (trustProxy.length === 0) return (_headers, info) => socketAddress(info);
  const net = loadNet();
  const trusted = new net.BlockList();
  for (const network of trustProxy) addNetwork(net, trusted, network);
  const isTrusted = (address: string) => {
    const version = net.isIP(address);
    return version !== 0 &&
      trusted.check(address, version === 4 ? "ipv4" : "ipv6");
  };
  return (headers, info) => {
    let address = socketAddress(info);
    if (address === undefined || !isTrusted(address)) return address;
    const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
    for (const hop of hops.reverse()) {
      const before = plain(trimOws(hop));
      if (net.isIP(before) === 0) return address;
      address = before;
      if (!isTrusted(before)) return before;
    }
    return address;
  };
}

function loadNet(): typeof nodeNet {
  const net = loadBuiltin("node:net");
  if (net === undefined) {
    throw new TypeError("Cannot trust proxies: this runtime has no node:net");
  }
  return net as typeof nodeNet;
}

function addNetwork(
  net: typeof nodeNet,
  trusted: nodeNet.BlockList,
  network: string,
): void {
  const [, address = "", digits] =
    /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(network) ?? [];
  const version = net.isIP(address);
  const prefix = Number(digits);
  if (version === 0 || prefix > (version === 4 ? 32 : 128)) {
    throw new SigError("invalid_request", {
      action: `trust proxy ${quote(network)}`,
      reason: "it must be a network",
      context: { flag: "--trust-proxy", hint: "For example: 10.0.0.0/8." },
    });
  }
  trusted.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
}

/**
 * Returns the network of a client: an IPv4 address itself; the /64 of an IPv6
 * address, which is assigned to one client as a whole.
 *
 * @example
 * ```ts
 * import { clientNetwork } from "@sig/api/internal/http";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(clientNetwork("192.0.2.1"), "192.0.2.1");
 * assertEquals(clientNetwork("2001:db8::1"), clientNetwork("2001:db8::2"));
 * ```
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const canonical = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  if (canonical === undefined) return address;
  const [head = "", tail] = canonical.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail ? tail.split(":").length : 0;
  // An IPv4-mapped address is one client: all of them would share the /64.
  if (canonical.startsWith("::ffff:") && behind === 3) return canonical;
  while (groups.length < 4 && groups.length + behind < 8) groups.push("0");
  return groups.length < 4 ? canonical : groups.slice(0, 4).join(":");
}

/** Options of {@linkcode createRateLimiter}. */
export interface RateLimit {
  /** Requests per second and maximum burst, at least 1. */
  readonly perSecond: number;
}

/**
 * Maximum number of remembered clients; the least recently seen is forgotten
 * first.
 */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * Creates a token bucket for each client: a burst of `perSecond` requests,
 * refilled evenly. The function counts one request of a client at a time in
 * milliseconds.
 *
 * @throws {SigError} from the function: `rate_limited` with
 * `context.retry_after_seconds`.
 * @throws {RangeError} for an invalid limit.
 */
export function createRateLimiter(
  { perSecond }: RateLimit,
): (client: string, nowMs: number) => void {
  if (!(perSecond >= 1)) {
    throw new RangeError("Cannot limit: perSecond must be at least 1");
  }
  const buckets = new Map<string, Bucket>();
  return (address, nowMs) => {
    const client = clientNetwork(address);
    const bucket = buckets.get(client) ??
      { tokens: perSecond, filledAtMs: nowMs };
    // A clock that was set back must not block a client.
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    const filled = bucket.tokens + elapsedMs * perSecond / 1000;
    bucket.tokens = Math.min(perSecond, filled);
    bucket.filledAtMs = nowMs;
    // Moves the client to the end of the map: the first key is the oldest.
    buckets.delete(client);
    buckets.set(client, bucket);
    if (buckets.size > MAX_CLIENTS) {
      buckets.delete(buckets.keys().next().value!);
    }
    if (bucket.tokens < 1) throw rateLimited(perSecond);
    bucket.tokens--;
  };
}

function rateLimited(perSecond: number): SigError {
  const requests = perSecond === 1 ? "1 request" : `${perSecond} requests`;
  return new SigError("rate_limited", {
    action: "answer",
    reason: `more than ${requests} a second from this address`,
    context: { retry_after_seconds: 1, hint: "Ask again more slowly." },
  });
}
