/** did:web identifiers and the well-known places (docs/protocol.md §1). @module */

import { SigError } from "../errors/error.ts";
import { quote } from "../text/escape_invisible.ts";

/** A did:web identifier, taken apart. */
export interface DidWeb {
  /** The DID as it was given. */
  readonly did: string;
  /** The host name, lower case, without a port. */
  readonly host: string;
  /** The port, when one is given. */
  readonly port?: number;
  /** Path segments; an issuer's did:web has none. */
  readonly path: readonly string[];
  /** `https://host[:port]` (`http://` for private hosts, on request only). */
  readonly origin: string;
  /** Where its DID document is. */
  readonly didDocumentUrl: string;
}

/** Options of {@linkcode parseDidWeb}. */
export interface ParseDidWebOptions {
  /**
   * Accept IP addresses and `localhost`, which then mean `http://`. For tests
   * and closed networks (default: off): such a DID makes the reader connect to
   * its own machine or network.
   */
  readonly allowPrivate?: boolean;
}

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** DIDs longer than this can't name a DNS host with a sensible path. */
const MAX_DID_LENGTH = 2048;

/**
 * Takes a did:web apart, strictly: lower-case ASCII host name, the only percent
 * code is `%3A` before a port, no userinfo, query, fragment, IP address,
 * single-label or local name. (did:web specification; docs/protocol.md §1)
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
    throw new SigError(
      "unsupported_did_method",
      `Cannot use ${quote(did)}: only did:web is supported here`,
      { context: { identifier: did.slice(0, 200) } },
    );
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
  // Invalid punycode (xn--a), and anything that a URL parser reads differently.
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

/** Whether the host is a private one; throws unless it is a proper host. */
function requireHost(
  did: string,
  host: string,
  allowPrivate: boolean,
): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  const labels = name.split(".");
  // Before anything else, so that no later answer is about a host with a slash,
  // an at sign or a white space in it.
  if (
    name.length > 253 || !labels.every((label) => LABEL.test(label))
  ) throw malformed(did, "the host must be a lower-case DNS name");
  const isPrivate = IPV4.test(host) || host === "localhost" ||
    host.endsWith(".localhost");
  if (isPrivate && allowPrivate) return true;
  // URL parsers read a name that ends in a number as an IPv4 address.
  const last = labels.at(-1)!;
  if (
    isPrivate || host !== name || labels.length === 1 || last === "local" ||
    last === "internal" || /^(\d+|0x[0-9a-f]*)$/.test(last)
  ) {
    throw new SigError(
      "address_not_allowed",
      `Cannot use ${
        quote(did)
      }: IP addresses, local names and a trailing dot are refused`,
      {
        context: {
          identifier: did.slice(0, 200),
          hint: hintAbout(host, isPrivate),
        },
      },
    );
  }
  return false;
}

/** What helps: --allow-insecure opens this machine and addresses, no more. */
function hintAbout(host: string, isPrivate: boolean): string {
  if (isPrivate) return "For a test on this machine, use --allow-insecure.";
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
  return new SigError(
    "invalid_identifier",
    `Cannot use ${quote(did)}: ${why}`,
    {
      context: {
        identifier: did.slice(0, 200),
        ...(hint === undefined ? {} : { hint: hint.slice(0, 200) }),
      },
    },
  );
}

/** Paths of the four files below an issuer's origin. */
export const WELL_KNOWN_PATHS: WellKnownUrls = Object.freeze({
  /** DID document. */
  did_document: "/.well-known/did.json",
  /** Key set. */
  jwks: "/.well-known/jwks.json",
  /** Metadata. */
  metadata: "/.well-known/sig.json",
  /** Feed. */
  feed: "/.well-known/sig/events.jsonl",
});

/** The four places of an issuer. */
export interface WellKnownUrls {
  /** DID document. */
  readonly did_document: string;
  /** Key set. */
  readonly jwks: string;
  /** Metadata. */
  readonly metadata: string;
  /** Feed. */
  readonly feed: string;
}

/**
 * Where an issuer publishes, from its did:web. Only `metadata` and
 * `did_document` are fixed; readers follow the metadata for the other two.
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
 * did:web with a path: the files live per host.
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
 * {@linkcode parseDidWeb} for an issuer: a path is refused. (docs/protocol.md §1)
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
 * The did:web of a URL's origin: the other way round. Whether it is a proper
 * issuer is for {@linkcode parseIssuerDid} to say.
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
