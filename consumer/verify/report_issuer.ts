/** All faults of what an issuer publishes (docs/reference/http.md). @module */

import { isFault } from "./feed_fault.ts";
import { type LoadedIssuer, loadIssuer } from "./load_issuer.ts";
import { type IssuerLocation, sourceOf } from "../read/reader.ts";
import { type VerifyIssuerOptions, verifyLoaded } from "./verify_issuer.ts";
import {
  invalidReport,
  MAX_REPORTED_FAULTS,
  validReport,
  type VerifyReport,
} from "./verify_report.ts";

/**
 * Verifies everything that an issuer publishes and reports up to 100 faults.
 *
 * @throws {SigError} only for what could not be read or is over a limit of
 * ours: then it is not known whether the feed is valid.
 */
export async function reportIssuer(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  let loaded: LoadedIssuer | undefined;
  try {
    loaded = await loadIssuer(location, options);
    const verified = await verifyLoaded(
      location,
      loaded,
      options,
      { maxFaults: MAX_REPORTED_FAULTS, digest: true, keepOnly: null },
    );
    const { issuer, feed, warnings } = verified;
    return feed.faults.length === 0 ? validReport(verified) : invalidReport({
      faults: feed.faults,
      issuer,
      source: loaded.source,
      verifiedEvents: feed.verifiedEvents,
      warnings,
    });
  } catch (error) {
    if (!isFault(error)) throw error;
    return invalidReport({
      faults: [error],
      issuer: loaded?.issuer,
      source: loaded?.source ?? sourceOf(location),
      warnings: loaded?.warnings,
    });
  }
}
