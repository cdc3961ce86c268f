/** What `sig verify` and `/v1/verify` report (docs/reference/http.md). @module */

import type { SigError, SourceKind, Warning } from "@sig/core";
import {
  type VerifiedIssuer,
  type VerifyIssuerOptions,
  verifyLoaded,
} from "./verify_feed.ts";
import type { KeyUse } from "./verified_feed.ts";
import { isFault, lacksKey } from "./feed_fault.ts";
import { type LoadedIssuer, loadIssuer } from "./load_issuer.ts";
import { type IssuerLocation, sourceOf } from "../read/reader.ts";

/** Faults in one report. */
export const MAX_REPORTED_FAULTS = 100;

/** One fault in a {@linkcode VerifyReport}. */
export interface ReportedFault {
  /** The stable code. */
  readonly code: string;
  /** In words. */
  readonly detail: string;
  /** The event, if it is about one. */
  readonly sequence?: number;
  /** The line of the feed, if it is about one. */
  readonly line?: number;
  /** The key, if it is about one. */
  readonly kid?: string;
  /** The field, if it is about one. */
  readonly pointer?: string;
}

/** A report on a feed that is valid. */
export interface ValidReport {
  /** Every signature and rule holds. */
  readonly valid: true;
  /** The issuer's DID. */
  readonly issuer: string;
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** How many events. */
  readonly verified_events: number;
  /** Sequence of the last event. */
  readonly last_sequence: number;
  /** SHA-256 of the feed's bytes, hexadecimal. */
  readonly feed_sha256: string;
  /** The keys that signed. */
  readonly keys: readonly KeyUse[];
  /** What was odd. */
  readonly warnings: readonly Warning[];
}

/** A report on documents that were read and found faulty. */
export interface InvalidReport {
  /** Something that was published is wrong. */
  readonly valid: false;
  /** The faults, up to 100, in the order of the feed. */
  readonly errors: readonly ReportedFault[];
  /** The issuer's DID, null when one of its documents is at fault. */
  readonly issuer: string | null;
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** Events that did verify; none of them may be relied upon. */
  readonly verified_events: number;
  /** What was odd. */
  readonly warnings: readonly Warning[];
}

/** The result of `sig verify` and `/v1/verify`. */
export type VerifyReport = ValidReport | InvalidReport;

/** The report on an issuer whose feed was verified and digested. */
export function validReport(
  { issuer, source, state, feed, warnings }: VerifiedIssuer,
): ValidReport {
  return {
    valid: true,
    issuer,
    source,
    verified_events: feed.verifiedEvents,
    last_sequence: state.last_sequence,
    feed_sha256: feed.sha256!,
    keys: feed.keys,
    warnings,
  };
}

/**
 * The report on documents that were read and found faulty.
 *
 * @param faults In the order of the feed.
 */
export function invalidReport(
  faults: readonly SigError[],
  read: Omit<InvalidReport, "valid" | "errors">,
): InvalidReport {
  return { valid: false, errors: faults.map(reportedFault), ...read };
}

function reportedFault({ code, message, context }: SigError): ReportedFault {
  const { sequence, line, kid, pointer } = context;
  return {
    code,
    detail: message,
    ...(sequence === undefined ? {} : { sequence }),
    ...(line === undefined ? {} : { line }),
    ...(kid === undefined ? {} : { kid }),
    ...(pointer && { pointer }),
  };
}

/**
 * Verifies everything that an issuer publishes and reports up to 100 faults. For
 * a key that the documents lack, a server is read a second time.
 *
 * @throws {SigError} only for what could not be read or is over a limit of
 * ours: then it is not known whether the feed is valid.
 */
export async function reportIssuer(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  const report = await reportIssuerOnce(location, options);
  const mayPass = location.reader.kind === "remote" && !report.valid &&
    report.errors.some(lacksKey);
  return mayPass ? await reportIssuerOnce(location, options) : report;
}

/** {@linkcode reportIssuer} by one reading, for who has read it twice already. */
export async function reportIssuerOnce(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  let loaded: LoadedIssuer | undefined;
  try {
    loaded = await loadIssuer(location, options);
    const verified = await verifyLoaded(loaded, options, {
      maxFaults: MAX_REPORTED_FAULTS,
      digest: true,
      keepOnly: null,
    });
    const { issuer, source, feed, warnings } = verified;
    const { faults, verifiedEvents: verified_events } = feed;
    return faults.length === 0
      ? validReport(verified)
      : invalidReport(faults, { issuer, source, verified_events, warnings });
  } catch (error) {
    if (!isFault(error)) throw error;
    return invalidReport([error], {
      issuer: loaded?.issuer ?? null,
      source: loaded?.source ?? sourceOf(location),
      verified_events: 0,
      warnings: loaded?.warnings ?? [],
    });
  }
}
