/** Asks one question of several issuers (docs/protocol.md §6). @module */

import {
  type CheckAnswer,
  isSigError,
  type JsonValue,
  type Problem,
  SigError,
  toProblem,
} from "@sig/core";

/** An issuer that could not answer. */
export interface FailedAnswer {
  /** The issuer's DID, or the name given for it. */
  readonly issuer: string;
  /** The error. */
  readonly error: Problem;
}

/** The answers of several issuers to one question. */
export interface AnyAnswer {
  /** `allow` if one issuer allows; `deny` if all of them answered deny. */
  readonly decision: "allow" | "deny";
  /** The answer of each issuer, in the order of the list. */
  readonly answers: readonly (CheckAnswer | FailedAnswer)[];
}

/** An issuer to ask. */
export interface AskedIssuer {
  /** Its name in a failed answer. */
  readonly issuer: string;
  /** Asks the issuer. */
  readonly answer: () => Promise<CheckAnswer>;
}

/** Maximum number of issuers per question. */
const MAX_ISSUERS = 100;

/** How long to wait for the remaining issuers after an allow. */
const PATIENCE_MS = 2_000;

/**
 * Asks all issuers concurrently. The first allow decides: issuers that have not
 * answered 2 s later are listed as `fetch_timeout`, so that a silent issuer
 * delays no answer. A deny needs the answers of all issuers.
 *
 * @example
 * ```ts
 * import { combineAnswers } from "@sig/consumer/internal";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * const down = new SigError("fetch_failed", { reason: "refused" });
 * await assertRejects(
 *   () =>
 *     combineAnswers([{
 *       issuer: "did:web:acme.example",
 *       answer: () => Promise.reject(down),
 *     }]),
 *   SigError,
 *   "none of 1 issuers allows, and did:web:acme.example could not answer",
 * );
 * ```
 *
 * @throws {SigError} when none allows and one could not answer: its code, with
 * all answers in `context.answers`; `invalid_request` for no issuer, or more
 * than 100. Other errors are rethrown.
 */
export async function combineAnswers(
  asked: readonly AskedIssuer[],
): Promise<AnyAnswer> {
  if (asked.length === 0 || asked.length > MAX_ISSUERS) {
    throw new SigError("invalid_request", {
      action: "answer",
      reason: `1 to ${MAX_ISSUERS} issuers can be asked, not ${asked.length}`,
    });
  }
  const isAllowed = Promise.withResolvers<void>();
  const errors = new Map<number, unknown>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = isAllowed.promise.then(() =>
    new Promise<void>((done) => timer = setTimeout(done, PATIENCE_MS))
  );
  const answers = await Promise.all(asked.map(async ({ issuer, answer }, i) => {
    try {
      const given = await Promise.race([
        answer(),
        late.then(() => Promise.reject(tooLate(issuer))),
      ]);
      if (given.decision === "allow") isAllowed.resolve();
      return given;
    } catch (error) {
      errors.set(i, error);
      return { issuer, error: toProblem(error) };
    }
  })).finally(() => clearTimeout(timer));
  const said = (decision: string) =>
    answers.some((each) => "decision" in each && each.decision === decision);
  if (said("allow")) return { decision: "allow", answers };
  const first = asked.findIndex((_, i) => errors.has(i));
  if (first < 0) return { decision: "deny", answers };
  const error = errors.get(first);
  if (!isSigError(error)) throw error;
  const { code, context, reason } = error;
  const { issuer } = asked[first]!;
  throw new SigError(code, {
    action: "answer",
    reason: `none of ${asked.length} issuers allows, and ${issuer} could ` +
      `not answer: ${reason}`,
    context: {
      ...context,
      issuer,
      answers: answers as unknown as JsonValue,
    },
    cause: error,
  });
}

function tooLate(issuer: string): SigError {
  return new SigError("fetch_timeout", {
    action: "answer",
    reason:
      `another issuer allowed, and this one had not answered ${PATIENCE_MS} ms later`,
    context: { issuer },
  });
}
