/** What a state's rows say, as values and as text. @module */

import {
  compareInstants,
  type FeedHistory,
  type Instant,
  type RelationshipState,
  type RelationshipVersion,
  type Warning,
} from "@sig/core";
import type { DocumentName } from "../fetch/media_type.ts";
import type { HeldDocuments } from "../read/conditional_reader.ts";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";

/** An instant as two numbers. */
export type StoredInstant = readonly [seconds: number, nanoseconds: number];

/** Some events in a row, by the order of the feed. */
export interface StoredBlock {
  /** The latest `issued_at` of all events before, and of this block. */
  readonly latest: StoredInstant;
  /** `issued_at` of each. */
  readonly issuedAt: readonly StoredInstant[];
  /** 4 bytes of each signature. */
  readonly marks: readonly number[];
}

/** A warning, and what an answer needs to know of its event. */
export interface StoredWarning {
  /** As it was told. */
  readonly warning: Warning;
  /** Whom its event is about. */
  readonly subjects: readonly string[];
  /** When its event was issued. */
  readonly issuedAt: StoredInstant | null;
}

/** An instant as it is kept. */
export function storedInstant(instant: Instant): StoredInstant {
  return [instant.seconds, instant.nanoseconds];
}

/** An instant that was kept. */
export function instantOfStored(
  [seconds, nanoseconds]: StoredInstant,
): Instant {
  return { seconds, nanoseconds };
}

/** The later of two instants. */
export function laterOf(a: StoredInstant, b: StoredInstant): StoredInstant {
  return compareInstants(instantOfStored(a), instantOfStored(b)) >= 0 ? a : b;
}

type StoredVersion = readonly [
  Omit<RelationshipState, "issuer" | "relationship_id">,
  StoredInstant,
  StoredInstant?,
];

/** The row of a relationship. */
export function writeVersions(
  id: string,
  versions: readonly RelationshipVersion[],
): string {
  const stored = versions.map(
    ({ state, issuedAt, endsEarlierFrom }): StoredVersion => {
      const { issuer: _issuer, relationship_id: _id, ...rest } = state;
      return endsEarlierFrom === undefined
        ? [rest, storedInstant(issuedAt)]
        : [rest, storedInstant(issuedAt), storedInstant(endsEarlierFrom)];
    },
  );
  return JSON.stringify([id, ...stored]);
}

/**
 * A relationship and its versions up to an event: a process that is further
 * may have added more.
 */
export function readVersions(
  text: string,
  issuer: string,
  lastSequence: number,
): { readonly id: string; readonly versions: readonly RelationshipVersion[] } {
  const [id, ...stored] = JSON.parse(text) as [string, ...StoredVersion[]];
  const versions: RelationshipVersion[] = [];
  for (const [rest, issuedAt, ends] of stored) {
    if (rest.last_sequence > lastSequence) break;
    const { subject, relationship_type, roles, valid_from, ...others } = rest;
    const version = {
      // The members in the order in which a replay makes them.
      state: {
        issuer,
        relationship_id: id,
        subject,
        relationship_type,
        roles,
        valid_from,
        ...others,
      },
      issuedAt: instantOfStored(issuedAt),
    };
    versions.push(
      ends === undefined
        ? version
        : { ...version, endsEarlierFrom: instantOfStored(ends) },
    );
  }
  return { id, versions };
}

/** How each version begins; inside of a text its quotes would be escaped. */
const VERSION_BEGIN = ',[{"subject":';

/**
 * A relationship as its row left it, without reading its other versions:
 * somebody may have thousands.
 */
export function readLastState(
  text: string,
  id: string,
  issuer: string,
): RelationshipState | undefined {
  const at = text.lastIndexOf(VERSION_BEGIN);
  if (!text.startsWith(beginOf(id)) || at < 0) return undefined;
  const last = beginOf(id) + text.slice(at);
  return readVersions(last, issuer, Infinity).versions[0]?.state;
}

/** The row of a relationship with more versions. */
export function appendVersions(
  text: string,
  id: string,
  versions: readonly RelationshipVersion[],
): string {
  const added = writeVersions(id, versions).slice(beginOf(id).length);
  return text.slice(0, -1) + added;
}

function beginOf(id: string): string {
  return JSON.stringify([id]).slice(0, -1);
}

/** The row of the warnings. */
export function writeWarnings(
  warnings: readonly Warning[],
  history: FeedHistory,
): string {
  const stored = warnings.map((warning): StoredWarning => ({
    warning,
    subjects: warning.sequence === undefined
      ? []
      : history.subjectsWarnedAt(warning.sequence),
    issuedAt: warning.sequence === undefined
      ? null
      : storedInstant(history.issuedAt(warning.sequence)),
  }));
  return JSON.stringify(stored);
}

/** The row of the documents. */
export function writeDocuments(documents: HeldDocuments): string {
  return JSON.stringify(
    [...documents].map(([name, { bytes, ...rest }]) => [
      name,
      { ...rest, bytes: encodeBase64Url(bytes) },
    ]),
  );
}

/** The documents of a row. */
export function readDocuments(text: string): HeldDocuments {
  const stored = JSON.parse(text) as [
    DocumentName,
    {
      readonly ref: string;
      readonly etag: string;
      readonly mediaType: string | null;
      readonly bytes: string;
    },
  ][];
  return new Map(stored.map(([name, { bytes, ...rest }]) => [
    name,
    { ...rest, bytes: decodeBase64Url(bytes) },
  ]));
}
