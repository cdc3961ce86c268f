/** From an issuer's name to where it publishes. @module */

import { quote, SigError } from "@sig/core";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import type { IssuerLocation } from "./reader.ts";
import { openSource } from "./open_source.ts";
import { parseSource } from "./source.ts";

/** An issuer whose origin proves who speaks. */
export type ProvenLocation = IssuerLocation & {
  /** The DID that the origin proves. */
  readonly expectedIssuer: string;
};

/**
 * Where an issuer publishes that is named by its did:web, its host or the https
 * URL of its `sig.json`. Files are refused: they prove no origin, so every one
 * of them could be asked in the place of any other. Nothing is fetched.
 * (PROTOCOL §1)
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
  issuer: string,
  policy: FetchPolicy = {},
): ProvenLocation {
  const allowPrivate = policy.allowPrivate ?? false;
  const location = openSource(parseSource(issuer, { allowPrivate }), policy);
  const { expectedIssuer } = location;
  if (expectedIssuer !== undefined) return { ...location, expectedIssuer };
  throw new SigError(
    "invalid_identifier",
    `Cannot ask issuer ${
      quote(issuer)
    }: it must be a did:web, a host name or an https URL`,
    { context: { identifier: issuer.slice(0, 200) } },
  );
}
