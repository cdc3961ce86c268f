/** One case: an issuer's four files and what a verifier must make of them. @module */

import { type JsonObject, spell, toBytes } from "./bytes.ts";
import { didDocument, ISSUER, jwks, metadata } from "./documents.ts";
import { ALICE } from "./events.ts";
import { KEY_1 } from "./keys.ts";
import { feed } from "./lines.ts";

/** The clock of every case that does not say otherwise. */
export const NOW = "2026-06-01T00:00:00Z";

/** Where an issuer's documents usually lie. */
export const DOCUMENT_PATHS = {
  did: ".well-known/did.json",
  jwks: ".well-known/jwks.json",
  metadata: ".well-known/sig.json",
  feed: ".well-known/sig/events.jsonl",
} as const;

/** A case, before it is written into the file of its theme. */
export interface FeedCase {
  /** Its name, which no other case and no question has. */
  readonly name: string;
  /** An issuer's documents, by their path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What a verifier must make of them. */
  readonly expected: JsonObject;
}

/** A document: a value, its exact text or bytes, or null for no file. */
type Document = JsonObject | string | Uint8Array | null;

/** What a case says (default: every document is in order). */
export interface CaseContent {
  /** `sig.json`. */
  readonly metadata?: Document;
  /** `jwks.json`. */
  readonly jwks?: Document;
  /** `did.json`. */
  readonly did?: Document;
  /** Lines of the feed, without their LF. */
  readonly lines?: readonly (string | Uint8Array)[];
  /** The whole feed instead. */
  readonly feed?: string | Uint8Array;
  /** Where `jwks.json` lies, if elsewhere. */
  readonly jwksPath?: string;
  /** Where the feed lies, if elsewhere. */
  readonly feedPath?: string;
}

/** What a case is about. */
export interface CaseHead {
  /** One sentence. */
  readonly description: string;
  /** The rule's place. */
  readonly spec: string;
  /** The options of the reader (default: its own). */
  readonly options?: {
    readonly unknown_events?: "ignore" | "reject";
    readonly unmatched_revoke?: "ignore" | "reject";
  };
  /** The reader's clock. */
  readonly now?: string;
}

/** What a valid case comes to. */
export interface ValidResult {
  /** The issuer, if another one. */
  readonly issuer?: string;
  /** Sequence of the last event. */
  readonly last_sequence: number;
  /** The relationships, each from {@linkcode relationship}. */
  readonly state?: readonly JsonObject[];
  /** Codes of the warnings, in order: documents first, then lines. */
  readonly warnings?: readonly string[];
}

/** What an invalid case comes to; line and sequence for faults in the feed. */
export interface InvalidResult {
  /** The stable code. */
  readonly code: string;
  /** Line of the fault, from 1. */
  readonly line?: number;
  /** Sequence of the fault (default: the line's number). */
  readonly sequence?: number;
  /** The key, if the fault is about one. */
  readonly kid?: string;
}

/** The documents of a case, by their path (default: those in order). */
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

/** A case that verifies. */
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

/** A case that must be refused. */
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

/** A relationship in an expected state; nothing of it is derived from events. */
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
