/** Types of flag values. @module */

import { quote, suggest } from "@sig/core/internal";
import { usageError, type ValueType } from "./flag.ts";

/** Any text. */
export const text: ValueType<string> = {
  placeholder: "TEXT",
  parse: (text) => text,
};

/** A path. */
export const file: ValueType<string> = {
  placeholder: "FILE",
  kind: "file",
  parse: (text) => text,
};

/** The path of a directory. */
export const folder: ValueType<string> = {
  placeholder: "DIR",
  kind: "folder",
  parse: (text) => text,
};

/** One of a few choices. */
export function oneOf<const T extends string>(
  ...choices: readonly T[]
): ValueType<T> {
  return {
    placeholder: choices.join("|"),
    choices,
    parse: (text, flag) => requireChoice(text, choices, flag),
  };
}

/** Returns the choice that equals a text. */
export function requireChoice<T extends string>(
  text: string,
  choices: readonly T[],
  flag: string,
): T {
  const found = choices.find((each) => each === text);
  if (found !== undefined) return found;
  const near = suggest(text, choices);
  throw usageError(`${flag} must be one of ${choices.join(", ")}`, {
    flag,
    ...(near ? { hint: `Did you mean ${near}?` } : {}),
  });
}

const MILLISECONDS: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A duration in milliseconds: a number with ms, s, m, h or d. */
export const duration: ValueType<number> = {
  placeholder: "DURATION",
  parse(text, flag) {
    const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
    if (match) return Number(match[1]) * MILLISECONDS[match[2]!]!;
    throw usageError(`${flag} must be a number with ms, s, m, h or d`, {
      flag,
      hint: "For example: 5m.",
    });
  },
};

/** A whole number from 1 to 999999. */
export const count: ValueType<number> = {
  placeholder: "N",
  parse(text, flag) {
    const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (number >= 1) return number;
    throw usageError(`${flag} must be a number from 1 to 999999`, { flag });
  },
};

/** Requests per second, such as `20/s`. */
export const rate: ValueType<{ readonly perSecond: number }> = {
  placeholder: "N/s",
  parse(text, flag) {
    const perSecond = Number(/^(\d{1,6})\/s$/.exec(text)?.[1]);
    if (perSecond >= 1) return { perSecond };
    throw usageError(`${flag} must be a number of requests a second`, {
      flag,
      hint: "For example: 20/s.",
    });
  },
};

/** An address to listen on. */
export interface Address {
  /** An IP address without brackets, or a host name. */
  readonly hostname: string;
  /** The port; 0 takes any free port. */
  readonly port: number;
}

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([a-z0-9.-]+)):(0|[1-9]\d{0,4})$/;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/**
 * `host:port` or `[ipv6]:port`. Strict, since a mistake could expose the
 * server.
 */
export const address: ValueType<Address> = {
  placeholder: "HOST:PORT",
  parse(text, flag) {
    const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
    const port = Number(digits);
    const hostname = ipv6 ?? name;
    const isHost = ipv6 === undefined ? isName(name) : isIpv6(ipv6);
    if (hostname === undefined || !isHost || port > 65_535) {
      throw usageError(`${flag} ${quote(text)} must be host:port`, {
        flag,
        hint: "For example: 127.0.0.1:8080, [::1]:8080.",
      });
    }
    return { hostname, port };
  },
};

/**
 * Parses `--addr`.
 *
 * @example
 * ```ts
 * import { parseAddress } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const address = parseAddress("127.0.0.1:8080");
 * assertEquals(address, { hostname: "127.0.0.1", port: 8080 });
 * ```
 *
 * @throws {SigError} `invalid_request` with `context.flag` `--addr`.
 */
export function parseAddress(text: string): Address {
  return address.parse(text, "--addr");
}

function isIpv6(text: string): boolean {
  return URL.parse(`http://[${text}]`) !== null;
}

/** A URL parser rewrites every unusual form of an IPv4 address. */
function isName(name: string | undefined): boolean {
  return name !== undefined && name.split(".").every((l) => LABEL.test(l)) &&
    URL.parse(`http://${name}`)?.hostname === name;
}

/**
 * Returns whether a server at this address is reachable only from this machine.
 * A name other than `localhost` may resolve to any address.
 *
 * @example
 * ```ts
 * import { isLoopback } from "@sig/api/program";
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
