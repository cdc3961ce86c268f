/** Options that would let people in if they were taken as they are. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";

/**
 * Refuses what is no time: such as `Number(undefined)`, with which no issuer would
 * be asked again.
 *
 * @throws {SigError} `invalid_request` unless it is finite, and 0 or more.
 */
export function requireDuration(name: string, ms: number): void {
  if (Number.isFinite(ms) && ms >= 0) return;
  throw new SigError(
    "invalid_request",
    `Cannot log anyone in: ${name} must be milliseconds, 0 or more, current value is ${ms}`,
    { context: { hint: "For example: 30000." } },
  );
}

/**
 * Refuses an issuer that nothing is required of, and so would never be asked.
 *
 * @throws {SigError} `invalid_request`
 */
export function requireQuestion(
  issuer: string | undefined,
  require: readonly string[] | undefined,
): void {
  if (issuer === undefined || (require ?? []).length > 0) return;
  throw new SigError(
    "invalid_request",
    `Cannot log anyone in: ${
      quote(issuer)
    } is named, and the application requires nothing of it`,
    { context: { hint: 'For example: require: ["relationship=employee"].' } },
  );
}
