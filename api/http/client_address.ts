/** Who is asking: the socket's address, or what a trusted proxy says. @module */

import { quote, SigError, trimOws } from "@sig/core";
import { loadBuiltin } from "@sig/jose";

/** The part of `node:net` that is used, without its types. */
interface NodeNet {
  isIP(text: string): 0 | 4 | 6;
  readonly BlockList: new () => {
    addSubnet(net: string, prefix: number, type: "ipv4" | "ipv6"): void;
    check(address: string, type: "ipv4" | "ipv6"): boolean;
  };
}

interface ConnectionInfo {
  readonly remoteAddr?: { readonly hostname?: unknown };
}

/** Says a request's client address, undefined where it isn't known. */
export type ClientAddress = (
  headers: Headers,
  info: unknown,
) => string | undefined;

/** The address of the socket. */
function socketAddress(info: unknown): string | undefined {
  const hostname = (info as ConnectionInfo | undefined)?.remoteAddr?.hostname;
  return typeof hostname === "string" ? plain(hostname) : undefined;
}

/** A socket for both kinds of address writes IPv4 as `::ffff:192.0.2.1`. */
function plain(address: string): string {
  return address.startsWith("::")
    ? address.replace(/^::ffff:(?=\d+\.)/i, "")
    : address;
}

/**
 * Makes what finds the client's address. `X-Forwarded-For` is believed only of
 * proxies in one of the networks, and read from its end: what stands before the
 * last address that no trusted proxy wrote, a client may have made up.
 *
 * @example
 * ```ts
 * import { createClientAddress } from "./client_address.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const clientOf = createClientAddress(["10.0.0.0/8"]);
 * const info = { remoteAddr: { hostname: "10.0.0.7" } };
 * const headers = new Headers({ "x-forwarded-for": "made-up, 192.0.2.1" });
 * assertEquals(clientOf(headers, info), "192.0.2.1");
 * ```
 *
 * @param trustProxy Networks such as `10.0.0.0/8`; none: the socket's address.
 * @throws {SigError} `invalid_request` for what is no network.
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

function loadNet(): NodeNet {
  const net = loadBuiltin("node:net");
  if (net === undefined) {
    throw new TypeError("Cannot trust proxies: this runtime has no node:net");
  }
  return net as NodeNet;
}

function addNetwork(
  net: NodeNet,
  trusted: InstanceType<NodeNet["BlockList"]>,
  network: string,
): void {
  const [, address = "", digits] =
    /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(network) ?? [];
  const version = net.isIP(address);
  const prefix = Number(digits);
  if (version === 0 || prefix > (version === 4 ? 32 : 128)) {
    throw new SigError(
      "invalid_request",
      `Cannot trust proxy ${quote(network)}: it must be a network`,
      { context: { flag: "--trust-proxy", hint: "For example: 10.0.0.0/8." } },
    );
  }
  trusted.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
}
