/** Makes evidence files from an issuer's proofs (docs/protocol.md §13.5). @module */

import { parseQuestion, parseRequirements, SigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  digestLines,
  EMPTY_HASH,
  encodeBase64,
  invalidCheckpoint,
  leafOf,
  MAX_SUBJECT_BYTES,
  type OpenedCheckpoint,
  pathAmong,
  sharesDigits,
  subjectKey,
} from "@sig/jose/proofs";
import {
  type Recovery,
  recoveryLines,
  type RecoveryMember,
} from "@sig/jose/recovery";
import { encodeHex } from "@std/encoding/hex";
import type { Walk } from "../proofs/proof_files.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import { answerOf, asAskedNow, type Evidence } from "./evidence_file.ts";
import { requireProofs } from "../follow/issuer_proofs.ts";
import { SubjectReplay } from "../verify/subject_replay.ts";

/** As `makeEvidence`. */
export async function make(
  location: IssuerLocation,
  question: Evidence["question"],
  options: LoadIssuerOptions & { readonly now: Date },
): Promise<Evidence> {
  const require = parseRequirements(question.require);
  const { as_of, ...asked } = question;
  parseQuestion({ ...asked, require, asOf: as_of });
  const { loaded, checkpoint, files, text } = await requireProofs(
    location,
    options,
  );
  const recovery = namedBy(checkpoint, loaded.recovery);
  const walk = await files.walk(checkpoint.state, question.subject);
  const { path, other, lines } = endOf(walk, question.subject);
  const replay = new SubjectReplay(loaded, asAskedNow(question), options);
  const kids = new Set(checkpoint.kids);
  for (const line of lines) {
    kids.add((await replay.addOwn(line, checkpoint.size)).kid);
  }
  const { size } = checkpoint;
  const decoder = new TextDecoder();
  return {
    type: "sig-evidence/v1",
    issuer: loaded.issuer,
    question,
    answer: answerOf(replay, question, size, options.now),
    checkpoint: text,
    path: path.map(encodeBase64),
    lines: lines.map((line) => decoder.decode(line)),
    ...(other === undefined ? {} : { other }),
    keys: Object.fromEntries(
      [...kids].map((kid) => [kid, loaded.keys.resolve(kid).jwk.x]),
    ),
    ...(recovery === undefined ? {} : { recovery }),
  };
}

/**
 * Returns the statements of which a checkpoint knows.
 *
 * @throws {SigError} `invalid_checkpoint` if it is older than the statements of
 * the documents, by which the lines were read.
 */
function namedBy(
  checkpoint: OpenedCheckpoint,
  recovery: Recovery | undefined,
): RecoveryMember | undefined {
  const lines = recoveryLines(recovery);
  const isOlder = checkpoint.recovery !== lines.recovery ||
    checkpoint.statements !== lines.statements;
  if (isOlder && recovery?.keys) {
    throw invalidCheckpoint("it is older than the issuer's last statement");
  }
  return checkpoint.recovery === undefined ? undefined : recovery?.member;
}

/**
 * Returns the path to a subject, and the lines or the other subject at its end.
 */
function endOf({ end, depth, path }: Walk, subject: string) {
  const key = subjectKey(subject);
  if (end === undefined) return { path, lines: [] };
  if (end.kind === "too_large") {
    if (!sameBytes(end.key, key)) {
      const other = { key: encodeHex(end.key), lines_sha256: NO_DIGEST };
      return { path, lines: [], other };
    }
    throw new SigError("document_too_large", {
      action: "make evidence",
      reason: `the subject has over ${MAX_SUBJECT_BYTES} bytes of lines`,
      context: { limit: MAX_SUBJECT_BYTES },
    });
  }
  const leaves = end.subjects.map((each) => leafOf(each));
  const whole = [...pathAmong(leaves, key, depth), ...path];
  const found = end.subjects.find((each) =>
    sharesDigits(each.key, key, whole.length / 4)
  );
  const lines = found?.lines.map(({ bytes }) => bytes) ?? [];
  if (found === undefined || sameBytes(found.key, key)) {
    return { path: whole, lines };
  }
  const lines_sha256 = encodeHex(digestLines(lines));
  const other = { key: encodeHex(found.key), lines_sha256 };
  return { path: whole, lines: [], other };
}

const NO_DIGEST = encodeHex(EMPTY_HASH);
