/**
 * Converts the text of a source to the location of its documents
 * (docs/protocol.md §1).
 *
 * @module
 */

import {
  didWebOf,
  isSigError,
  parseIssuerDid,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import { requireAllowedUrl } from "../fetch/require_allowed_url.ts";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import {
  createInlineReader,
  createRemoteReader,
  type InlineFeed,
  type IssuerLocation,
} from "./reader.ts";
import { type LocalSource, locateLocal } from "./local_reader.ts";

/** A source of an issuer's documents. */
export type Source =
  | LocalSource
  | {
    /** An issuer named by its did:web or its host name. */
    readonly kind: "did";
    /** `did:web:<host>`, without a path. */
    readonly did: string;
    /**
     * `https://host[:port]`; `http://` for private hosts, if they are allowed.
     */
    readonly origin: string;
    /**
     * Hint for the error if the source can't be read: a folder of that name
     * exists.
     */
    readonly hint?: string;
  }
  | {
    /** The URL of a `sig.json`. */
    readonly kind: "url";
    /** The URL, normalized by the URL parser. */
    readonly url: string;
  };

/** Options of {@linkcode parseSource}. */
export interface ParseSourceOptions {
  /** Accepts `http:`, IP addresses and local names. */
  readonly allowPrivate?: boolean | undefined;
  /** Returns whether a path exists. Used only for a hint at a missing `./`. */
  readonly exists?: (path: string) => boolean;
}

/** A URL scheme, but neither a host with a port nor a drive letter. */
const SCHEME =
  /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:\/\/|[a-zA-Z][a-zA-Z0-9+-]+:(?!\d+(?:\/|$)))/;
const HOST_AND_PORT = /^([^:]*)(?::(.*))?$/s;

/**
 * Parses a source as written by a user: a did:web, a host name, an https URL of
 * a `sig.json`, a `sig.json` file or a directory. A path contains `/`, starts
 * with `.` or ends in `.json`; any other text is a host and never a file, so
 * that a planted folder can't be read instead of a host.
 *
 * @example
 * ```ts
 * import { parseSource } from "@sig/consumer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseSource("acme.example:8443"), {
 *   kind: "did",
 *   did: "did:web:acme.example%3A8443",
 *   origin: "https://acme.example:8443",
 * });
 * assertEquals(parseSource("./acme"), { kind: "directory", path: "./acme" });
 * ```
 *
 * @throws {SigError} `insecure_url` for another scheme or userinfo,
 * `unsupported_did_method`, `address_not_allowed` for IP addresses and local
 * names, `invalid_identifier` for everything else.
 */
export function parseSource(
  text: string,
  options: ParseSourceOptions = {},
): Source {
  if (/^did:/i.test(text)) return parseDid(text, options);
  if (SCHEME.test(text)) {
    return { kind: "url", url: requireAllowedUrl(text, options).url.href };
  }
  if (text.includes("/") || text.startsWith(".") || text.endsWith(".json")) {
    if (!text.includes("\0")) {
      return {
        kind: text.endsWith(".json") ? "file" : "directory",
        path: text,
      };
    }
    throw new SigError(
      "invalid_identifier",
      { action: `use ${quote(text)}`, reason: "a path has no NUL character" },
    );
  }
  return parseHost(text, options);
}

function parseDid(
  did: string,
  { allowPrivate = false }: ParseSourceOptions,
): Extract<Source, { kind: "did" }> {
  const { origin } = parseIssuerDid(did, { allowPrivate });
  return { kind: "did", did, origin };
}

function parseHost(host: string, options: ParseSourceOptions): Source {
  const hint = options.exists?.(host)
    ? `A folder of that name exists: write ./${host} to read it.`
    : undefined;
  const [, name = "", port] = HOST_AND_PORT.exec(host) ?? [];
  // Host names are case-insensitive, DIDs are not. Only ASCII: the Kelvin sign
  // is not a K.
  const lower = name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const did = `did:web:${lower}` +
    (port === undefined ? "" : `%3A${port}`);
  // A percent code could be read as the port's separator, a colon in the port
  // as a path.
  if (host === "" || host.includes("%") || port?.includes(":")) {
    throw notASource(host, hint);
  }
  try {
    return { ...parseDid(did, options), ...(hint && { hint }) };
  } catch (error) {
    if (isSigError(error, "invalid_identifier")) throw notASource(host, hint);
    if (!isSigError(error) || hint === undefined) throw error;
    const { code, cause } = error;
    throw new SigError(code, {
      action: error.action,
      reason: error.reason,
      context: { ...error.context, hint },
      cause,
    });
  }
}

function notASource(text: string, hint: string | undefined): SigError {
  return new SigError("invalid_identifier", {
    action: `use ${quote(text)}`,
    reason:
      "it is neither a did:web, a host name, an https URL, a sig.json file nor a directory",
    context: {
      identifier: text.slice(0, 200),
      ...(hint === undefined ? {} : { hint }),
    },
  });
}

/** The location of an issuer whose origin proves its DID. */
export type ProvenLocation = IssuerLocation & {
  /** The DID that the origin proves. */
  readonly expectedIssuer: string;
};

/**
 * A parsed name of an issuer: its did:web, its host or the https URL of its
 * `sig.json`. Created by {@linkcode IssuerName.parse} only.
 */
export class IssuerName {
  /** The name as it was written. */
  readonly text: string;
  /** Whether it was written as a did:web or a host, or as a URL. */
  readonly kind: "did" | "url";
  /** The DID that the origin proves. */
  readonly expectedIssuer: string;
  /** The URL of its `sig.json`. */
  readonly metadataRef: string;
  /** Whether `metadataRef` is the well-known `sig.json` of its host. */
  readonly isWellKnown: boolean;

  private constructor(
    text: string,
    source: FetchedSource,
    options: ParseSourceOptions,
  ) {
    const { expectedIssuer, metadataRef, origin } = placeOf(source, options);
    this.text = text;
    this.kind = source.kind;
    this.expectedIssuer = expectedIssuer;
    this.metadataRef = metadataRef;
    this.isWellKnown = metadataRef === origin + WELL_KNOWN_PATHS.metadata;
  }

  /**
   * Parses a name. Returns an `IssuerName` unchanged.
   *
   * @throws {SigError} `invalid_identifier`, also for a file or a directory,
   * which prove no origin; `insecure_url`, `unsupported_did_method`,
   * `address_not_allowed`; and the errors of `requireSource`.
   */
  static parse(
    name: string | IssuerName,
    { allowPrivate }: Pick<ParseSourceOptions, "allowPrivate"> = {},
    requireSource?: (source: Source) => void,
  ): IssuerName {
    if (name instanceof IssuerName) return name;
    const source = parseSource(name, { allowPrivate });
    requireSource?.(source);
    if (source.kind === "did" || source.kind === "url") {
      return new IssuerName(name, source, { allowPrivate });
    }
    // A file proves no origin, so it could be used in place of any issuer.
    throw new SigError("invalid_identifier", {
      action: `ask issuer ${quote(name)}`,
      reason: "it must be a did:web, a host name or an https URL",
      context: { identifier: name.slice(0, 200) },
    });
  }
}

type FetchedSource = Extract<Source, { kind: "did" | "url" }>;

/** Returns the URL of the `sig.json`, and the DID that the origin proves. */
function placeOf(source: FetchedSource, options: ParseSourceOptions) {
  if (source.kind === "did") {
    // Computed from the DID, not from the source's `origin`, which the caller
    // could change.
    const { did: expectedIssuer, origin } = parseDid(source.did, options);
    const metadataRef = origin + WELL_KNOWN_PATHS.metadata;
    return { expectedIssuer, metadataRef, origin };
  }
  const url = new URL(source.url);
  // The fragment is never sent. With it, one document would have many
  // references.
  url.hash = "";
  const { href: metadataRef, origin } = url;
  return { expectedIssuer: didWebOf(url), metadataRef, origin };
}

/**
 * Returns the location of an issuer named by its did:web, its host or the https
 * URL of its `sig.json`. Files are refused: they prove no origin, so they could
 * be used in place of any issuer. Nothing is fetched. (docs/protocol.md §1)
 *
 * @example Two names of one issuer
 * ```ts
 * import { locateIssuer } from "@sig/consumer/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const { expectedIssuer, metadataRef } = locateIssuer("acme.example");
 * assertEquals(expectedIssuer, "did:web:acme.example");
 * assertEquals(locateIssuer(expectedIssuer).metadataRef, metadataRef);
 * ```
 *
 * @throws {SigError} `invalid_identifier`, also for a file or a directory;
 * `insecure_url`, `unsupported_did_method`, `address_not_allowed`.
 */
export function locateIssuer(
  issuer: string | IssuerName,
  policy: FetchPolicy = {},
): ProvenLocation {
  const { expectedIssuer, metadataRef } = IssuerName.parse(issuer, policy);
  return { reader: createRemoteReader(policy), metadataRef, expectedIssuer };
}

/**
 * Returns the location of a source's documents, and the issuer that its origin
 * proves. Nothing is read yet. (docs/protocol.md §1: the origin determines the
 * issuer)
 *
 * @example
 * ```ts
 * import { openSource, parseSource } from "@sig/consumer";
 * import { assertEquals } from "@std/assert";
 *
 * const location = openSource(parseSource("acme.example"));
 * assertEquals(location.expectedIssuer, "did:web:acme.example");
 * ```
 *
 * @throws {SigError} `invalid_identifier`, `address_not_allowed`.
 */
export function openSource(
  source: Source,
  policy: FetchPolicy = {},
): IssuerLocation {
  if (source.kind !== "did" && source.kind !== "url") {
    return locateLocal(source);
  }
  const { expectedIssuer, metadataRef } = placeOf(source, policy);
  return { reader: createRemoteReader(policy), metadataRef, expectedIssuer };
}

/** Opens a feed from values in memory. It proves no origin. */
export function openInlineFeed(feed: InlineFeed): IssuerLocation {
  return {
    reader: createInlineReader(feed),
    metadataRef: WELL_KNOWN_PATHS.metadata,
  };
}
