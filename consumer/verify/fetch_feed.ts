/** The bytes of a feed with the issuer they belong to, not verified yet. @module */

import type { Warning } from "@sig/core";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import {
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
} from "./load_issuer.ts";
import { openSource } from "../read/open_source.ts";
import type { OpenedDocument } from "../read/reader.ts";
import { parseSource } from "../read/source.ts";

/** A feed on its way. Read or cancel `document`. */
export interface FetchedFeed {
  /** The issuer, whose documents were judged. */
  readonly issuer: LoadedIssuer;
  /** The feed's bytes, to be given to `verifyFeed`. */
  readonly document: OpenedDocument;
  /** What was odd so far, about the documents and how the feed is served. */
  readonly warnings: readonly Warning[];
}

/**
 * Gets an issuer's documents and opens its feed, without verifying it: for
 * those who want the bytes. Everyone else calls `verifyIssuer`.
 *
 * @example
 * ```ts ignore
 * import { fetchFeed, verifyFeed } from "@sig/consumer";
 *
 * const { issuer, document } = await fetchFeed("did:web:acme.example");
 * const { state } = await verifyFeed(document.bytes, {
 *   issuer: issuer.issuer,
 *   keys: issuer.keys,
 *   publicOnly: issuer.metadata.public_only,
 *   now: new Date(),
 * });
 * console.log(state.last_sequence);
 * ```
 *
 * @throws {SigError} as `parseSource`, `openSource` and `loadIssuer`.
 */
export async function fetchFeed(
  source: string,
  options: FetchPolicy & LoadIssuerOptions = {},
): Promise<FetchedFeed> {
  const allowPrivate = options.allowPrivate ?? false;
  const parsed = parseSource(source, { allowPrivate });
  const issuer = await loadIssuer(openSource(parsed, options), options);
  const { document, warnings } = await issuer.openFeed();
  return { issuer, document, warnings: [...issuer.warnings, ...warnings] };
}
