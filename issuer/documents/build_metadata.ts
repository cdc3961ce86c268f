/** The metadata that an issuer publishes (PROTOCOL §1). @module */

import { type SigMetadata, SPEC_VERSION, wellKnownUrls } from "@sig/core";

/** Options of {@linkcode buildMetadata}. */
export interface BuildMetadataOptions {
  /** Whether the feed holds public events only; true unless told. */
  readonly publicOnly?: boolean;
  /** Accept an IP address or `localhost`, which then means `http://`. */
  readonly allowPrivate?: boolean;
}

/**
 * Builds `sig.json` from an issuer's did:web.
 *
 * @example
 * ```ts
 * import { buildMetadata } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const metadata = buildMetadata("did:web:acme.example");
 * assertEquals(
 *   metadata.events_uri,
 *   "https://acme.example/.well-known/sig/events.jsonl",
 * );
 * ```
 *
 * @throws {SigError} `unsupported_did_method`, `invalid_identifier`,
 * `address_not_allowed`, as `parseDidWeb` of `@sig/core`.
 */
export function buildMetadata(
  did: string,
  options: BuildMetadataOptions = {},
): SigMetadata {
  const allowPrivate = options.allowPrivate ?? false;
  const urls = wellKnownUrls(did, { allowPrivate });
  return {
    spec_version: SPEC_VERSION,
    issuer: did,
    jwks_uri: urls.jwks,
    events_uri: urls.feed,
    public_only: options.publicOnly ?? true,
    algorithms_supported: ["EdDSA"],
    event_serialization: "jws-flattened",
  };
}
