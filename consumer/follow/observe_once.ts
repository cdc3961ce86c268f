/** Observes an issuer of which nothing is remembered. @module */

import { UNKNOWN } from "../memory/pin.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import type { ProofQuestion } from "./bounds.ts";
import { readByProof } from "./read_by_proof.ts";
import type { RefreshOptions } from "./reading.ts";
import { readFeed } from "./refresh.ts";

/**
 * Reads an issuer by proof, or its feed if the question can't be answered by
 * proof. A checkpoint policy applies to both.
 *
 * @param question Undefined if proofs must not be used.
 * @throws {SigError} as `verifyIssuer`, and those of the checkpoint policy.
 */
export async function observeOnce(
  location: IssuerLocation,
  question: ProofQuestion | undefined,
  options: RefreshOptions,
): Promise<VerifiedIssuer> {
  const unproven = question &&
    await readByProof(location, question, { ...options, pin: UNKNOWN });
  if (unproven?.kind === "proof") return unproven.part.observation.verified;
  if (unproven !== undefined && unproven.kind !== "unproven") {
    throw unproven.error;
  }
  const { again: reader = location.reader, warning } = unproven ?? {};
  const start = { pin: UNKNOWN, copy: undefined, repeatedAt: undefined };
  const { found } = await readFeed({ ...location, reader }, start, options);
  if (found.kind !== "feed") throw found.error;
  const { verified } = found.copy.observation;
  return warning === undefined
    ? verified
    : { ...verified, warnings: [warning, ...verified.warnings] };
}
