/**
 * The report of `sig verify` and `/v1/verify` (docs/reference/http.md). @module
 */

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

/** Maximum number of faults in one report. */
const MAX_REPORTED_FAULTS = 100;

/** One fault in a {@linkcode VerifyReport}. */
export interface ReportedFault {
  /** The stable error code. */
  readonly code: string;
  /** The message. */
  readonly detail: string;
  /** Sequence of the event, if the fault is about one. */
  readonly sequence?: number;
  /** Line of the feed, from 1, if the fault is about one. */
  readonly line?: number;
  /** The `kid` of the key, if the fault is about one. */
  readonly kid?: string;
  /** JSON pointer of the field, if the fault is about one. */
  readonly pointer?: string;
}

/** The report on a valid feed. */
export interface ValidReport {
  /** True: every signature and rule holds. */
  readonly valid: true;
  /** The issuer's DID. */
  readonly issuer: string;
  /** The kind of source of the documents. */
  readonly source: SourceKind;
  /** Number of events. */
  readonly verified_events: number;
  /** Sequence of the last event. */
  readonly last_sequence: number;
  /** SHA-256 of the feed's bytes in hexadecimal. */
  readonly feed_sha256: string;
  /** The keys that signed. */
  readonly keys: readonly KeyUse[];
  /** Warnings about documents and feed. */
  readonly warnings: readonly Warning[];
}

/** The report on documents with faults. */
export interface InvalidReport {
  /** False: a published document or the feed has a fault. */
  readonly valid: false;
  /** The faults, up to 100, in the order of the feed. */
  readonly errors: readonly ReportedFault[];
  /** The issuer's DID, or null if one of its documents has a fault. */
  readonly issuer: string | null;
  /** The kind of source of the documents. */
  readonly source: SourceKind;
  /** Number of events that were verified. Do not rely on any of them. */
  readonly verified_events: number;
  /** Warnings about documents and feed. */
  readonly warnings: readonly Warning[];
}

/** The result of `sig verify` and `/v1/verify`. */
export type VerifyReport = ValidReport | InvalidReport;

/** Makes the report on an issuer whose feed was verified and digested. */
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
 * Makes the report on documents with faults.
 *
 * @param faults The faults in the order of the feed.
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
 * Verifies all documents and the feed of an issuer, and reports up to 100
 * faults. If a key is missing in the documents, a server is read a second time.
 *
 * @throws {SigError} only for documents that can't be read or exceed a limit:
 * then it is unknown whether the feed is valid.
 */
export async function reportIssuer(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  const report = await reportIssuerOnce(location, options);
  const isTransient = location.reader.kind === "remote" && !report.valid &&
    report.errors.some(lacksKey);
  return isTransient ? await reportIssuerOnce(location, options) : report;
}

/**
 * Does the same as {@linkcode reportIssuer} with one reading, for callers that
 * have already read the issuer twice.
 */
export async function reportIssuerOnce(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  let loaded: LoadedIssuer | undefined;
  try {
    loaded = await loadIssuer(location, options);
    const verified = await verifyLoaded(loaded, {
      ...options,
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
