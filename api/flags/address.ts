/** Where to listen: `host:port`, `[ipv6]:port`. @module */

import { quote } from "@sig/core";
import { usageError } from "./usage_error.ts";

/** A parsed `--addr`. */
export interface Address {
  /** An IP address without brackets, or a host name. */
  readonly hostname: string;
  /** 0 takes any free port. */
  readonly port: number;
}

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([a-z0-9.-]+)):(0|[1-9]\d{0,4})$/;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/**
 * Reads an address strictly: a mistake must not open it to the world.
 *
 * @example
 * ```ts
 * import { parseAddress } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const address = parseAddress("127.0.0.1:8080");
 * assertEquals(address, { hostname: "127.0.0.1", port: 8080 });
 * ```
 *
 * @throws {SigError} `invalid_request` with `context.flag` `--addr`.
 */
export function parseAddress(text: string): Address {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  const hostname = ipv6 ?? name;
  const isHost = ipv6 === undefined ? isName(name) : isIpv6(ipv6);
  if (hostname === undefined || !isHost || port > 65_535) {
    throw usageError(`--addr ${quote(text)} must be host:port`, {
      flag: "--addr",
      hint: "For example: 127.0.0.1:8080, [::1]:8080.",
    });
  }
  return { hostname, port };
}

function isIpv6(text: string): boolean {
  return URL.parse(`http://[${text}]`) !== null;
}

/** A URL parser rewrites every unusual spelling of an IPv4 address. */
function isName(name: string | undefined): boolean {
  return name !== undefined && name.split(".").every((l) => LABEL.test(l)) &&
    URL.parse(`http://${name}`)?.hostname === name;
}

/**
 * Whether only this machine can reach a server that listens there. A name other
 * than `localhost` may resolve to anything.
 *
 * @example
 * ```ts
 * import { isLoopback } from "@sig/api/flags";
 * import { assert } from "@std/assert";
 *
 * assert(isLoopback("127.0.0.2") && isLoopback("::1"));
 * assert(!isLoopback("0.0.0.0"));
 * ```
 */
export function isLoopback(hostname: string): boolean {
  if (hostname === "localhost") return true;
  if (/^127(?:\.\d{1,3}){3}$/.test(hostname)) return true;
  return URL.parse(`http://[${hostname}]`)?.hostname === "[::1]";
}
