/** Evidence files: a question, its answer, and the proof (docs/protocol.md §13.5). @module */

import { parseIssuerDid, type Reason } from "@sig/core";
import type { VerificationKey } from "@sig/jose/keys";
import type { OpenedCheckpoint } from "@sig/jose/proofs";
import type { Recovery, RecoveryMember } from "@sig/jose/recovery";
import type { IssuerLocation } from "../read/reader.ts";
import { loadIssuer, type LoadIssuerOptions } from "../verify/load_issuer.ts";

/** Maximum size of an evidence file in bytes (2 MiB). */
export const MAX_EVIDENCE_BYTES: number = 2 * 1024 * 1024;

/** An evidence file. */
export interface Evidence {
  /** Always `sig-evidence/v1`. */
  readonly type: "sig-evidence/v1";
  /** The issuer's DID. */
  readonly issuer: string;
  /** The question. */
  readonly question: {
    /** The subject. */
    readonly subject: string;
    /** The requirements as written in the question. */
    readonly require: readonly string[];
    /** The time that the question is about (RFC 3339). */
    readonly at: string;
    /**
     * The last event that was known (default: the last of the checkpoint). It
     * is at most the checkpoint's size.
     */
    readonly as_of?: number;
  };
  /** The answer that results from the lines. */
  readonly answer: {
    /** The decision. */
    readonly decision: "allow" | "deny";
    /** The reasons for a deny; empty for an allow. */
    readonly reasons: readonly Reason[];
    /** The last event that counts: of the question, else of the checkpoint. */
    readonly as_of: number;
  };
  /** The checkpoint as published. */
  readonly checkpoint: string;
  /** Sibling hashes from the end of the path up to the root, base64. */
  readonly path: readonly string[];
  /** The signed lines of the subject. */
  readonly lines: readonly string[];
  /**
   * The other subject at the end of the path, if the subject itself has no
   * lines.
   */
  readonly other?: {
    /** The other subject's key in the tree, hexadecimal. */
    readonly key: string;
    /** The SHA-256 of the other subject's lines, hexadecimal. */
    readonly lines_sha256: string;
  };
  /** `x` of the keys that signed lines and checkpoint, by kid. */
  readonly keys: { readonly [kid: string]: string };
  /**
   * The issuer's recovery key, with the statements that the checkpoint names.
   */
  readonly recovery?: RecoveryMember;
}

/** A verified evidence file. */
export interface VerifiedEvidence {
  /** The content of the file. */
  readonly evidence: Evidence;
  /** The verified checkpoint. */
  readonly checkpoint: OpenedCheckpoint;
  /** The trusted key that signed the checkpoint. */
  readonly kid: string;
  /** That key in the format of `sig evidence verify --trust`. */
  readonly vkey: string;
  /**
   * When the issuer last confirmed the checkpoint as the newest (RFC 3339);
   * null if not stated.
   */
  readonly signed_at: string | null;
  /** Whether each line is void: its key had ended. */
  readonly voids: readonly boolean[];
}

/** Keys that the caller trusts as the issuer's. */
export type TrustedKeys = Iterable<Pick<VerificationKey, "publicKey">>;

/** The keys and the statements in an issuer's documents. */
export interface TrustedDocuments {
  /** The keys that may sign. */
  readonly keys: TrustedKeys;
  /** The issuer's recovery key and its statements, if it has one. */
  readonly recovery?: Recovery | undefined;
}

/**
 * Creates evidence for an answer about a subject, from an issuer's checkpoint.
 *
 * @param question `at` is an instant; events after the checkpoint don't count.
 * @throws {SigError} `proof_invalid` and `invalid_checkpoint`, also for an
 * issuer without proofs; `document_too_large` for a subject of over 1 MiB of
 * lines; as `checkIssuer`.
 */
export async function makeEvidence(
  location: IssuerLocation,
  question: Evidence["question"],
  options: LoadIssuerOptions & { readonly now: Date },
): Promise<Evidence> {
  const { make } = await import("./evidence_file.ts");
  return await make(location, question, options);
}

/**
 * Verifies an evidence file, offline: a trusted key has signed the checkpoint,
 * the path leads to its state, the lines are valid, and they result in the
 * answer. Evidence proves what was signed then, not that nothing was signed
 * later.
 *
 * @param trust Keys of the issuer, one of which must have signed the
 * checkpoint, or a function that returns them for the issuer's DID, with its
 * statements if they are known.
 * @throws {SigError} `invalid_evidence`, and what `trust` throws.
 */
export async function verifyEvidence(
  bytes: Uint8Array,
  trust:
    | TrustedKeys
    | ((issuer: string) => Promise<TrustedKeys | TrustedDocuments>),
): Promise<VerifiedEvidence> {
  const { read, verify } = await import("./evidence_file.ts");
  const evidence = await read(bytes);
  const trusted = typeof trust === "function"
    ? await trust(evidence.issuer)
    : trust;
  const of = Symbol.iterator in trusted ? { keys: trusted } : trusted;
  return await verify(evidence, of);
}

/** Fetches the keys that may sign an issuer's events, and its statements. */
export async function fetchTrustedKeys(
  location: IssuerLocation,
  options: LoadIssuerOptions = {},
): Promise<TrustedDocuments> {
  const { keys, recovery } = await loadIssuer(location, options);
  const { signingKeys } = await import("../memory/compare.ts");
  return { keys: [...signingKeys(keys).values()], recovery };
}

/** Returns the origin line of an issuer's checkpoints. */
export function originOf(issuer: string): string {
  const { host, port } = parseIssuerDid(issuer, { allowPrivate: true });
  return `${host}${port === undefined ? "" : `:${port}`}/.well-known/sig`;
}
