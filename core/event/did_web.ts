/** did:web and the well-known URLs of issuers (docs/protocol.md §1). @module */

import { SigError } from "../errors/error.ts";
import { quote } from "../text/escape_invisible.ts";

/** A parsed did:web identifier. */
export interface DidWeb {
  /** The DID in its original spelling. */
  readonly did: string;
  /** The host name in lower case, without the port. */
  readonly host: string;
  /** The port, if the DID has one. */
  readonly port?: number;
  /** The path segments; empty for issuers. */
  readonly path: readonly string[];
  /** The origin: `https://host[:port]`, or `http://` for private hosts. */
  readonly origin: string;
  /** URL of the DID document. */
  readonly didDocumentUrl: string;
}

/** Options of {@linkcode parseDidWeb}. */
export interface ParseDidWebOptions {
  /**
   * Accepts IP addresses, names without a dot, and names below `.localhost`,
   * `.local` and `.internal`. These, and names below `.lan` and `.corp`, then
   * mean `http://` (default: false). For tests and closed networks: such a DID
   * makes the reader connect to its own machine or network.
   */
  readonly allowPrivate?: boolean;
}

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** Top-level labels of names that no public host has. */
const REFUSED: readonly string[] = ["localhost", "local", "internal"];
/** Further ones that closed networks use. */
const PRIVATE: readonly string[] = ["lan", "corp"];
const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** Maximum length of a DID; no DNS host with a sensible path needs more. */
const MAX_DID_LENGTH = 2048;

/**
 * Parses a did:web strictly: lower-case ASCII host name; no percent encoding
 * other than `%3A` before a port; no userinfo, query, fragment, IP address,
 * single-label or local name (did:web specification; docs/protocol.md §1).
 *
 * @example
 * ```ts
 * import { parseDidWeb } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { origin, didDocumentUrl } = parseDidWeb("did:web:acme.example%3A8443");
 * assertEquals(origin, "https://acme.example:8443");
 * assertEquals(
 *   didDocumentUrl,
 *   "https://acme.example:8443/.well-known/did.json",
 * );
 * ```
 *
 * @throws {SigError} `unsupported_did_method` for another DID method,
 * `invalid_identifier` for anything malformed, `address_not_allowed` for an
 * IP address or a local name without `allowPrivate`.
 */
export function parseDidWeb(
  did: string,
  options: ParseDidWebOptions = {},
): DidWeb {
  if (/^did:(?!web:)[a-z0-9]+:/.test(did)) {
    throw new SigError("unsupported_did_method", {
      action: `use ${quote(did)}`,
      reason: "only did:web is supported here",
      context: { identifier: did.slice(0, 200) },
    });
  }
  if (!did.startsWith("did:web:") || did.length > MAX_DID_LENGTH) {
    throw malformed(did, "it must be did:web:<host>");
  }
  const [authority = "", ...path] = did.slice("did:web:".length).split(":");
  const match = /^([^%]*)(?:%3[Aa](.*))?$/.exec(authority);
  if (!match) throw malformed(did, "only %3A before a port may be encoded");
  const host = match[1]!;
  const port = match[2] === undefined ? undefined : parsePort(did, match[2]);
  const isPrivate = requireHost(did, host, options.allowPrivate ?? false);
  for (const segment of path) {
    if (!SEGMENT.test(segment) || segment === "." || segment === "..") {
      throw malformed(did, "a path segment is malformed");
    }
  }
  const scheme = isPrivate ? "http" : "https";
  const url = URL.parse(
    `${scheme}://${host}${port === undefined ? "" : `:${port}`}`,
  );
  // Rejects invalid punycode (xn--a), and any host that a URL parser changes.
  if (url?.hostname !== host) throw malformed(did, "the host is malformed");
  return {
    did,
    host,
    ...(port === undefined ? {} : { port }),
    path,
    origin: url.origin,
    didDocumentUrl: `${url.origin}/${
      path.length === 0 ? ".well-known" : path.join("/")
    }/did.json`,
  };
}

/** Returns whether the host is private; throws for an invalid host. */
function requireHost(
  did: string,
  host: string,
  allowPrivate: boolean,
): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  const labels = name.split(".");
  // This comes first, so that later errors never concern a host with a slash,
  // at sign or white space.
  if (
    name.length > 253 || !labels.every((label) => LABEL.test(label))
  ) throw malformed(did, "the host must be a lower-case DNS name");
  const isIp = IPV4.test(host);
  // URL parsers read a name that ends in a number as an IPv4 address.
  const last = labels.at(-1)!;
  const isMalformed = host !== name ||
    !isIp && /^(\d+|0x[0-9a-f]*)$/.test(last);
  const isRefused = isIp || labels.length === 1 || REFUSED.includes(last);
  const isPrivate = !isMalformed && (isRefused || PRIVATE.includes(last));
  if (isPrivate && allowPrivate) return true;
  if (isMalformed || isRefused) {
    throw new SigError("address_not_allowed", {
      action: `use ${quote(did)}`,
      reason: "IP addresses, local names and a trailing dot are refused",
      context: {
        identifier: did.slice(0, 200),
        hint: hintAbout(host, isPrivate),
      },
    });
  }
  return false;
}

/** Returns a hint: `allowPrivate` only permits private hosts. */
function hintAbout(host: string, isPrivate: boolean): string {
  if (isPrivate) {
    return "Write the whole public name, such as acme.example. For a test or in a closed network, set allowPrivate.";
  }
  return host.endsWith(".")
    ? "Write it without the dot at its end."
    : "Write the whole public name, such as acme.example.";
}

function parsePort(did: string, text: string): number {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    throw malformed(did, "the port must be 1 to 65535");
  }
  return port;
}

function malformed(did: string, why: string, hint?: string): SigError {
  return new SigError("invalid_identifier", {
    action: `use ${quote(did)}`,
    reason: why,
    context: {
      identifier: did.slice(0, 200),
      ...(hint === undefined ? {} : { hint: hint.slice(0, 200) }),
    },
  });
}

/** Paths of the four files below an issuer's origin. */
export const WELL_KNOWN_PATHS: WellKnownUrls = /* @__PURE__ */ Object.freeze({
  /** Path of the DID document. */
  did_document: "/.well-known/did.json",
  /** Path of the key set. */
  jwks: "/.well-known/jwks.json",
  /** Path of the metadata. */
  metadata: "/.well-known/sig.json",
  /** Path of the feed. */
  feed: "/.well-known/sig/events.jsonl",
});

/** The URLs of an issuer's four files. */
export interface WellKnownUrls {
  /** URL of the DID document. */
  readonly did_document: string;
  /** URL of the key set. */
  readonly jwks: string;
  /** URL of the metadata. */
  readonly metadata: string;
  /** URL of the feed. */
  readonly feed: string;
}

/**
 * Returns the URLs at which an issuer publishes, from its did:web. Only
 * `metadata` and `did_document` are fixed; readers take the other two from the
 * metadata.
 *
 * @example
 * ```ts
 * import { wellKnownUrls } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   wellKnownUrls("did:web:acme.example").feed,
 *   "https://acme.example/.well-known/sig/events.jsonl",
 * );
 * ```
 *
 * @throws {SigError} as {@linkcode parseDidWeb}, and `invalid_identifier` for a
 * did:web with a path, because the files belong to a host.
 */
export function wellKnownUrls(
  did: string,
  options: ParseDidWebOptions = {},
): WellKnownUrls {
  const { origin } = parseIssuerDid(did, options);
  return {
    did_document: origin + WELL_KNOWN_PATHS.did_document,
    jwks: origin + WELL_KNOWN_PATHS.jwks,
    metadata: origin + WELL_KNOWN_PATHS.metadata,
    feed: origin + WELL_KNOWN_PATHS.feed,
  };
}

/**
 * Parses the did:web of an issuer, which must not have a path (docs/protocol.md
 * §1).
 *
 * @throws {SigError} as {@linkcode parseDidWeb}, and `invalid_identifier` for a
 * path.
 */
export function parseIssuerDid(
  did: string,
  options: ParseDidWebOptions = {},
): DidWeb {
  const parsed = parseDidWeb(did, options);
  if (parsed.path.length > 0) {
    throw malformed(
      did,
      "an issuer's did:web has no path",
      /^\d+$/.test(parsed.path[0]!)
        ? `A port is written with %3A: did:web:${parsed.host}%3A${
          parsed.path[0]
        }.`
        : undefined,
    );
  }
  return parsed;
}

/**
 * Returns the did:web of a URL's origin. The result may not be a valid issuer:
 * {@linkcode parseIssuerDid} checks that.
 *
 * @example
 * ```ts
 * import { didWebOf } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const url = new URL("https://acme.example:8443/.well-known/sig.json");
 * assertEquals(didWebOf(url), "did:web:acme.example%3A8443");
 * ```
 */
export function didWebOf(url: URL): string {
  return `did:web:${url.hostname}${url.port === "" ? "" : `%3A${url.port}`}`;
}
