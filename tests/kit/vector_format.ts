/**
 * The format of the files in `vectors/` (see `vectors/README.md`). This module
 * works on every platform: the suites for Node and browsers use it.
 *
 * @module
 */

import type {
  CheckResult,
  ErrorCode,
  RelationshipState,
  WarningCode,
} from "@sig/core";

interface ExpectedHead {
  readonly description: string;
  readonly spec: string;
  /** The reader's current time. */
  readonly now: string;
  /** Options of the reader (default: the reader's defaults). */
  readonly options?: {
    readonly unknown_events?: "ignore" | "reject";
    readonly unmatched_revoke?: "ignore" | "reject";
  };
}

/** The expected result of a valid feed. */
export interface ExpectedValid extends ExpectedHead {
  readonly result: "valid";
  readonly issuer: string;
  readonly last_sequence: number;
  readonly by_relationship_id: { readonly [id: string]: RelationshipState };
  readonly warnings: readonly WarningCode[];
}

/** The expected error of an invalid feed. */
export interface ExpectedInvalid extends ExpectedHead {
  readonly result: "invalid";
  readonly code: ErrorCode;
  readonly line?: number;
  readonly sequence?: number;
  readonly kid?: string;
}

/** The expected result of a feed. */
export type Expected = ExpectedValid | ExpectedInvalid;

/** Paths of an issuer's documents, except in `metadata-other-paths`. */
export const DOCUMENT_PATHS = {
  metadata: ".well-known/sig.json",
  jwks: ".well-known/jwks.json",
  did: ".well-known/did.json",
  feed: ".well-known/sig/events.jsonl",
} as const;

/** An issuer's documents by path. */
export type Documents = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

/** A case of `vectors/feed`. */
export interface FeedVector {
  readonly name: string;
  /** The theme of the case's file. */
  readonly theme: string;
  readonly expected: Expected;
  readonly documents: Documents;
}

/** A case of `vectors/questions.json`. */
export interface QuestionVector {
  readonly name: string;
  readonly description: string;
  readonly spec: string;
  /** The case of `vectors/feed` that the question is about. */
  readonly feed: string;
  readonly question: {
    readonly subject: string;
    readonly require: readonly string[];
    readonly at: string | null;
    readonly as_of: number | string | null;
    readonly now: string;
  };
  readonly expected: { readonly error: ErrorCode } | ExpectedAnswer;
}

/** The expected members of an answer. */
export type ExpectedAnswer =
  & { readonly error?: undefined }
  & Pick<
    CheckResult,
    | "decision"
    | "last_sequence"
    | "matched_relationship_id"
    | "not_after"
    | "reasons"
  >;

/** A text, lines that each end in LF, bytes, or null for no document. */
type DocumentText =
  | string
  | readonly string[]
  | { readonly base64: string }
  | null;

type DocumentTexts = { readonly [path: string]: DocumentText };

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K>
  : never;

/** A file of `vectors/feed`. */
export interface FeedFile {
  readonly theme: string;
  readonly usual: { readonly now: string; readonly documents: DocumentTexts };
  readonly cases: readonly {
    readonly name: string;
    readonly description: string;
    readonly spec: string;
    readonly now?: string;
    readonly options?: NonNullable<ExpectedHead["options"]>;
    readonly documents: DocumentTexts;
    readonly expected: DistributiveOmit<Expected, keyof ExpectedHead>;
  }[];
}

/** `vectors/questions.json`. */
export interface QuestionFile {
  readonly cases: readonly QuestionVector[];
}

/** Returns the cases of a file, each with all of its documents. */
export function parseFeedFile(file: FeedFile): readonly FeedVector[] {
  const { cases, theme, usual } = file;
  return cases.map(({ name, documents, expected, ...head }) => ({
    name,
    theme,
    // In the order in which people read it.
    expected: {
      description: head.description,
      spec: head.spec,
      now: head.now ?? usual.now,
      ...(head.options && { options: head.options }),
      ...expected,
    },
    documents: new Map(
      Object.entries({ ...usual.documents, ...documents }).flatMap(
        ([path, text]) => text === null ? [] : [[path, toBytes(text)]],
      ),
    ),
  }));
}

function toBytes(text: NonNullable<DocumentText>): Uint8Array<ArrayBuffer> {
  if (typeof text === "string") return new TextEncoder().encode(text);
  if ("base64" in text) {
    return Uint8Array.from(atob(text.base64), (char) => char.charCodeAt(0));
  }
  return new TextEncoder().encode(text.map((line) => `${line}\n`).join(""));
}
