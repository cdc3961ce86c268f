/** Evidence files, and their verification (docs/protocol.md §13.5). @module */

import {
  check,
  type CheckResult,
  isSigError,
  JsonError,
  parseJson,
  parseRequirements,
  parseTimestamp,
  type Reason,
  SigError,
} from "@sig/core";
import { isObject, member, sameBytes } from "@sig/core/internal";
import { createKeyResolver, type VerificationKey } from "@sig/jose/keys";
import {
  decodeBase64,
  digestLines,
  EMPTY_HASH,
  formatVerifierKey,
  HASH_BYTES,
  MAX_SUBJECT_BYTES,
  openCheckpoint,
  type OpenedCheckpoint,
  sharesDigits,
  stateHashOfPath,
  stateLeaf,
  subjectKey,
} from "@sig/jose/proofs";
import {
  endKeysOf,
  readRecovery,
  type Recovery,
  type RecoveryMember,
  statementsLine,
} from "@sig/jose/recovery";
import { decodeHex } from "@std/encoding/hex";
import { canonical } from "../memory/keeper.ts";
import { signingKeys } from "../verify/load_issuer.ts";
import {
  confirmedAt,
  MAX_EVIDENCE_BYTES,
  originOf,
} from "../proofs/proof_policy.ts";
import { SubjectReplay } from "../verify/subject_replay.ts";

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

/** Returns how the lines of a subject are read for evidence. */
export function asAskedNow({ subject }: Evidence["question"]) {
  return { subject, isPast: true };
}

/** Returns the answer that the lines of a subject give. */
export function answerOf(
  { replay }: SubjectReplay,
  question: Evidence["question"],
  size: number,
  now: Date,
): Evidence["answer"] {
  const { subject, require, at, as_of } = question;
  replay.resume(size);
  const { decision, reasons }: CheckResult = check(replay.state(), {
    subject,
    require: parseRequirements(require),
    at,
    asOf: as_of,
    now,
  });
  return { decision, reasons, as_of: as_of ?? size };
}

/** @throws {SigError} `invalid_evidence` */
export function read(bytes: Uint8Array): Promise<Evidence> {
  return asEvidenceFault(() => readEvidence(bytes));
}

/**
 * Verifies evidence by keys that the caller trusts.
 *
 * @throws {SigError} `invalid_evidence`
 */
export function verify(
  evidence: Evidence,
  documents: TrustedDocuments,
): Promise<VerifiedEvidence> {
  return asEvidenceFault(() => verifyEvidence(evidence, documents));
}

/** Converts every fault of an evidence file to `invalid_evidence`. */
async function asEvidenceFault<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSigError(error, "invalid_evidence")) throw error;
    const isFault = error instanceof JsonError || isSigError(error);
    if (!isFault) throw error;
    const reason = isSigError(error) ? error.reason : error.message;
    throw new SigError(
      "invalid_evidence",
      { action: "use evidence", reason, cause: error },
    );
  }
}

/**
 * Returns the longer one of the statements in an evidence file and in the
 * issuer's documents, of which the other is the beginning.
 */
async function longerChain(
  { issuer, recovery: member }: Evidence,
  documents: Recovery | undefined,
): Promise<Recovery | undefined> {
  if (member === undefined) return documents;
  const own = await readRecovery(member, issuer);
  if (documents === undefined) return own;
  const [a, b] = [own.member, documents.member];
  const isCommon = a.commitment === b.commitment &&
    a.statements.every((text, i) => text === (b.statements[i] ?? text));
  if (!isCommon) {
    throw invalidEvidence("its statements are not those of the issuer");
  }
  return a.statements.length > b.statements.length ? own : documents;
}

async function verifyEvidence(
  evidence: Evidence,
  documents: TrustedDocuments,
): Promise<VerifiedEvidence> {
  const { issuer, question, answer } = evidence;
  const trusted = [...documents.keys];
  const recovery = await longerChain(evidence, documents.recovery);
  const named = await createKeyResolver({
    keys: Object.entries(evidence.keys).map(([kid, x]) => ({
      kty: "OKP",
      crv: "Ed25519",
      kid,
      x,
    })),
  });
  const keys = recovery === undefined ? named : endKeysOf(named, recovery);
  const checkpoint = await openCheckpoint(evidence.checkpoint, {
    origin: originOf(issuer),
    keys: signingKeys(keys),
  });
  requireNamed(checkpoint, evidence.recovery);
  const kid = checkpoint.kids.find((kid) =>
    trusted.some(({ publicKey }) =>
      sameBytes(publicKey, keys.resolve(kid).publicKey)
    )
  );
  if (kid === undefined) {
    throw invalidEvidence("no trusted key has signed the checkpoint");
  }
  const lines = evidence.lines.map((line) => new TextEncoder().encode(line));
  const path = evidence.path.map(hashOf);
  const key = subjectKey(question.subject);
  const end = leafAtEnd(key, evidence, lines);
  if (!sameBytes(stateHashOfPath(key, end, path), checkpoint.state)) {
    throw invalidEvidence("the path does not lead to the checkpoint's state");
  }
  const now = new Date(0);
  const of = { issuer, keys, metadata: { public_only: false } };
  const replay = new SubjectReplay(of, asAskedNow(question), { now });
  const voids: boolean[] = [];
  for (const line of lines) {
    voids.push((await replay.addOwn(line, checkpoint.size)).isVoid);
  }
  const given = answerOf(replay, question, checkpoint.size, now);
  if (canonical(given) !== canonical(answer)) {
    throw invalidEvidence("the lines don't give this answer");
  }
  const vkey = formatVerifierKey({
    name: checkpoint.origin,
    type: "note",
    key: keys.resolve(kid),
  });
  const signed_at = confirmedAt(checkpoint);
  return { evidence, checkpoint, kid, vkey, signed_at, voids };
}

/** Otherwise anybody could add statements to evidence, or leave them out. */
function requireNamed(
  checkpoint: OpenedCheckpoint,
  member: RecoveryMember | undefined,
): void {
  const { recovery, statements } = checkpoint;
  const isNamed = recovery === member?.commitment &&
    (statements === undefined ||
      statements === statementsLine(member?.statements ?? []));
  if (isNamed) return;
  throw invalidEvidence("its statements are not those of the checkpoint");
}

function leafAtEnd(
  key: Uint8Array,
  { path, other }: Evidence,
  lines: readonly Uint8Array[],
): Uint8Array {
  if (path.length % 4 !== 0 || path.length > 8 * HASH_BYTES) {
    throw invalidEvidence("the path does not have 4 hashes for each digit");
  }
  if (other === undefined) {
    if (lines.length === 0) return EMPTY_HASH;
    const digest = digestLines(lines);
    // The tree has no digest for so many lines, so any other lines would match
    // too.
    if (digest === EMPTY_HASH) {
      throw invalidEvidence(`its lines are over ${MAX_SUBJECT_BYTES} bytes`);
    }
    return stateLeaf(key, digest).hash;
  }
  const otherKey = decodeHex(other.key);
  const isThere = lines.length === 0 && !sameBytes(otherKey, key) &&
    sharesDigits(otherKey, key, path.length / 4);
  if (!isThere) throw invalidEvidence("the other subject is not on this path");
  return stateLeaf(otherKey, decodeHex(other.lines_sha256)).hash;
}

function hashOf(text: string): Uint8Array {
  const hash = decodeBase64(text);
  if (hash?.length === HASH_BYTES) return hash;
  throw invalidEvidence("the path has something else than hashes");
}

type Predicate = (value: unknown) => boolean;

const isText: Predicate = (value) => typeof value === "string" && value !== "";
const isHex: Predicate = (value) =>
  typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isList = (is: Predicate): Predicate => (value) =>
  Array.isArray(value) && value.every(is);
const isExactly =
  (members: Readonly<Record<string, Predicate>>): Predicate => (value) =>
    isObject(value) && Object.keys(value).every((name) =>
      Object.hasOwn(members, name)
    ) && Object.entries(members).every(([name, is]) => is(member(value, name)));

const isEvidence = isExactly({
  type: (value) => value === "sig-evidence/v1",
  issuer: isText,
  question: isExactly({
    subject: isText,
    require: isList(isText),
    at: (value) =>
      typeof value === "string" && parseTimestamp(value) !== undefined,
    as_of: (value) =>
      value === undefined || Number.isSafeInteger(value) && Number(value) >= 0,
  }),
  answer: isExactly({
    decision: (value) => value === "allow" || value === "deny",
    reasons: isList(isObject),
    as_of: (value) => Number.isSafeInteger(value),
  }),
  checkpoint: isText,
  path: isList(isText),
  lines: isList(isText),
  other: (value) =>
    value === undefined ||
    isExactly({ key: isHex, lines_sha256: isHex })(value),
  keys: (value) => isObject(value) && Object.values(value).every(isText),
  recovery: (value) => value === undefined || isObject(value),
});

function readEvidence(bytes: Uint8Array): Evidence {
  if (bytes.length > MAX_EVIDENCE_BYTES) {
    throw invalidEvidence(`it is over ${MAX_EVIDENCE_BYTES} bytes`);
  }
  const value = parseJson(bytes);
  if (isEvidence(value)) return value as unknown as Evidence;
  throw invalidEvidence("its members are not those of an evidence file");
}

function invalidEvidence(why: string): SigError {
  return new SigError("invalid_evidence", {
    action: "use evidence",
    reason: why,
  });
}
