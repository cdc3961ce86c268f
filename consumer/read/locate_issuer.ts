/** From an issuer's name to where it publishes. @module */

import { didWebOf, quote, SigError, WELL_KNOWN_PATHS } from "@sig/core";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import type { IssuerLocation } from "./reader.ts";
import { createRemoteReader } from "./remote_reader.ts";
import { parseSource, type ParseSourceOptions, type Source } from "./source.ts";

/** An issuer whose origin proves who speaks. */
export type ProvenLocation = IssuerLocation & {
  /** The DID that the origin proves. */
  readonly expectedIssuer: string;
};

/**
 * The name of an issuer, read: its did:web, its host or the https URL of its
 * `sig.json`. Only {@linkcode IssuerName.parse} makes one.
 */
export class IssuerName {
  /** As it was written. */
  readonly text: string;
  /** How it was written: a did:web or a host, or a URL. */
  readonly kind: "did" | "url";
  /** The DID that the origin proves. */
  readonly expectedIssuer: string;
  /** The URL of its `sig.json`. */
  readonly metadataRef: string;
  /** Whether that is its host's own `sig.json`, with nothing behind it. */
  readonly isUsual: boolean;

  private constructor(
    text: string,
    kind: "did" | "url",
    expectedIssuer: string,
    origin: string,
    metadataRef = origin + WELL_KNOWN_PATHS.metadata,
  ) {
    this.text = text;
    this.kind = kind;
    this.expectedIssuer = expectedIssuer;
    this.metadataRef = metadataRef;
    this.isUsual = metadataRef === origin + WELL_KNOWN_PATHS.metadata;
  }

  /**
   * Reads a name; one that was read already is returned as it is.
   *
   * @throws {SigError} `invalid_identifier`, also for a file or a directory,
   * which prove no origin; `insecure_url`, `unsupported_did_method`,
   * `address_not_allowed`; and what `requireSource` throws.
   */
  static parse(
    name: string | IssuerName,
    { allowPrivate = false }: Pick<ParseSourceOptions, "allowPrivate"> = {},
    requireSource?: (source: Source) => void,
  ): IssuerName {
    if (name instanceof IssuerName) return name;
    const source = parseSource(name, { allowPrivate });
    requireSource?.(source);
    switch (source.kind) {
      case "did":
        return new IssuerName(name, "did", source.did, source.origin);
      case "url": {
        const url = new URL(source.url);
        // It is never sent: with it one document would have many references.
        url.hash = "";
        return new IssuerName(name, "url", didWebOf(url), url.origin, url.href);
      }
      case "file":
      case "directory":
        throw notAnIssuer(name);
    }
  }
}

/**
 * Where an issuer publishes that is named by its did:web, its host or the https
 * URL of its `sig.json`. Files are refused: they prove no origin, so every one
 * of them could be asked in the place of any other. Nothing is fetched.
 * (docs/protocol.md §1)
 *
 * @example Two names of one issuer
 * ```ts
 * import { locateIssuer } from "@sig/consumer";
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
  const { expectedIssuer, metadataRef } = IssuerName.parse(issuer, {
    allowPrivate: policy.allowPrivate ?? false,
  });
  return { reader: createRemoteReader(policy), metadataRef, expectedIssuer };
}

/** A file proves no origin: each could be asked in the place of any other. */
function notAnIssuer(text: string): SigError {
  return new SigError(
    "invalid_identifier",
    `Cannot ask issuer ${
      quote(text)
    }: it must be a did:web, a host name or an https URL`,
    { context: { identifier: text.slice(0, 200) } },
  );
}
