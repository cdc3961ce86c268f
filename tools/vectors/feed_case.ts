/** Feed cases: an issuer's four files and the expected result. @module */

import { type JsonObject, spell, toBytes } from "./bytes.ts";
import { didDocument, ISSUER, jwks, metadata } from "./documents.ts";
import { ALICE } from "./events.ts";
import { KEY_1 } from "./keys.ts";
import { feed } from "./lines.ts";

/** The default clock of a case. */
export const NOW = "2026-06-01T00:00:00Z";

/** The usual paths of an issuer's documents. */
export const DOCUMENT_PATHS = {
  did: ".well-known/did.json",
  jwks: ".well-known/jwks.json",
  metadata: ".well-known/sig.json",
  feed: ".well-known/sig/events.jsonl",
} as const;

/** A case, before it is written to the file of its theme. */
export interface FeedCase {
  /** The name, unique among cases and questions. */
  readonly name: string;
  /** The issuer's documents by path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The expected result. */
  readonly expected: JsonObject;
}

/** A document: a value, its exact text or bytes, or null for no file. */
type Document = JsonObject | string | Uint8Array | null;

/** The documents of a case (default: valid ones). */
export interface CaseContent {
  /** `sig.json`. */
  readonly metadata?: Document;
  /** `jwks.json`. */
  readonly jwks?: Document;
  /** `did.json`. */
  readonly did?: Document;
  /** Lines of the feed, without their LF. */
  readonly lines?: readonly (string | Uint8Array)[];
  /** The whole feed, instead of lines. */
  readonly feed?: string | Uint8Array;
  /** Path of `jwks.json`, if it is not the usual one. */
  readonly jwksPath?: string;
  /** Path of the feed, if it is not the usual one. */
  readonly feedPath?: string;
}

/** Description and options of a case. */
export interface CaseHead {
  /** One sentence. */
  readonly description: string;
  /** Section of the rule. */
  readonly spec: string;
  /** Options of the reader (default: none). */
  readonly options?: {
    readonly unknown_events?: "ignore" | "reject";
    readonly unmatched_revoke?: "ignore" | "reject";
  };
  /** The reader's clock (default: {@linkcode NOW}). */
  readonly now?: string;
}

/** The expected result of a valid case. */
export interface ValidResult {
  /** The issuer (default: {@linkcode ISSUER}). */
  readonly issuer?: string;
  /** Sequence of the last event. */
  readonly last_sequence: number;
  /** The relationships, each from {@linkcode relationship}. */
  readonly state?: readonly JsonObject[];
  /** Codes of the warnings, in order: documents first, then lines. */
  readonly warnings?: readonly string[];
}

/**
 * The expected error of an invalid case; line and sequence for errors in the
 * feed.
 */
export interface InvalidResult {
  /** The error code. */
  readonly code: string;
  /** Line of the error, from 1. */
  readonly line?: number;
  /** Sequence of the error (default: the line). */
  readonly sequence?: number;
  /** The key, if the error is about a key. */
  readonly kid?: string;
}

/** Returns the documents of a case by path (default: valid ones). */
export function filesOf(content: CaseContent): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const put = (path: string, document: Document) => {
    if (document === null) return;
    files.set(path, toBytes(isSpelled(document) ? document : spell(document)));
  };
  const of = (given: Document | undefined, usual: JsonObject) =>
    given === undefined ? usual : given;
  put(DOCUMENT_PATHS.did, of(content.did, didDocument()));
  put(content.jwksPath ?? DOCUMENT_PATHS.jwks, of(content.jwks, jwks(KEY_1)));
  put(DOCUMENT_PATHS.metadata, of(content.metadata, metadata()));
  put(
    content.feedPath ?? DOCUMENT_PATHS.feed,
    content.feed ?? feed(...content.lines ?? []),
  );
  return files;
}

function isSpelled(document: Document): document is string | Uint8Array {
  return typeof document === "string" || document instanceof Uint8Array;
}

function begin({ description, spec, now, options }: CaseHead): JsonObject {
  return { description, spec, now: now ?? NOW, ...(options && { options }) };
}

/** Returns a case that is valid. */
export function valid(
  name: string,
  head: CaseHead,
  content: CaseContent,
  result: ValidResult,
): FeedCase {
  const { issuer, last_sequence, state = [], warnings = [] } = result;
  return {
    name,
    files: filesOf(content),
    expected: {
      ...begin(head),
      result: "valid",
      issuer: issuer ?? ISSUER,
      last_sequence,
      by_relationship_id: Object.fromEntries(
        state.map((each) => [each.relationship_id, each]),
      ),
      warnings,
    },
  };
}

/** Returns a case that must be rejected. */
export function invalid(
  name: string,
  head: CaseHead,
  content: CaseContent,
  { code, line, sequence, kid }: InvalidResult,
): FeedCase {
  return {
    name,
    files: filesOf(content),
    expected: {
      ...begin(head),
      result: "invalid",
      code,
      ...(line === undefined ? {} : { sequence: sequence ?? line, line }),
      ...(kid === undefined ? {} : { kid }),
    },
  };
}

/**
 * Returns a relationship of an expected state, without deriving it from events.
 */
export function relationship(
  last_sequence: number,
  changes: JsonObject = {},
): JsonObject {
  const { revoked_reason_code, revoked_effective_at, ...rest } = changes;
  return {
    issuer: ISSUER,
    relationship_id: "rel-1",
    subject: ALICE,
    relationship_type: "employee",
    roles: ["deploy"],
    valid_from: null,
    valid_until: null,
    status: revoked_reason_code === undefined ? "active" : "revoked",
    ...rest,
    ...(revoked_reason_code === undefined
      ? {}
      : { revoked_reason_code, revoked_effective_at }),
    last_sequence,
  };
}
