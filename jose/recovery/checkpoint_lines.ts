/** The lines of a checkpoint about recovery (docs/protocol.md §14.3). @module */

import { encodeBase64Url } from "../bytes/bytes.ts";
import type { Checkpoint } from "../proofs/checkpoint.ts";
import { invalidCheckpoint } from "../proofs/note.ts";
import { digestStatements, type Recovery } from "./recovery.ts";

/** The members of a checkpoint that name an issuer's commitment. */
export type RecoveryLines = Pick<Checkpoint, "recovery" | "statements">;

/** Returns the lines of a checkpoint of an issuer. */
export function recoveryLines(recovery: Recovery | undefined): RecoveryLines {
  if (recovery === undefined) return {};
  const { commitment, statements } = recovery.member;
  if (statements.length === 0) return { recovery: commitment };
  return { recovery: commitment, statements: statementsLine(statements) };
}

/** Returns the value of the line `statements`: their number and digest. */
export function statementsLine(statements: readonly string[]): string {
  const digest = encodeBase64Url(digestStatements(statements));
  return `${statements.length} ${digest}`;
}

/**
 * Requires that the lines of a checkpoint fit the issuer's metadata. A
 * checkpoint without the lines, or with fewer statements, is older; one with
 * fewer events than the last statement is refused.
 *
 * @throws {SigError} `invalid_checkpoint`.
 */
export function requireFittingLines(
  checkpoint: Checkpoint,
  recovery: Recovery | undefined,
): void {
  const { recovery: commitment, statements, size } = checkpoint;
  const member = recovery?.member;
  if (commitment !== undefined && commitment !== member?.commitment) {
    throw invalidCheckpoint('its line "recovery" is not that of sig.json');
  }
  if (statements !== undefined) {
    const known = member?.statements.slice(0, Number.parseInt(statements)) ??
      [];
    if (statements !== statementsLine(known)) {
      throw invalidCheckpoint('its line "statements" is not that of sig.json');
    }
  }
  const known = recovery?.statements.at(-1)?.size ?? 0;
  if (size < known) {
    throw invalidCheckpoint(
      `it has ${size} events, and the last statement ${known}`,
    );
  }
}
