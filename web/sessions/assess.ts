/** Whether a session may go on, by the issuer's word. @module */

import { isSigError, SigError } from "@sig/core";
import type { AskIssuer, Standing } from "../login/login_gate.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** What {@linkcode createAssessment} works with. */
export interface AssessmentOptions {
  /** Who can say. */
  readonly ask: Pick<AskIssuer, "standing">;
  /** What ends, and what is known of it. */
  readonly sessions: Pick<Sessions, "end" | "leave" | "learn">;
}

/** An application that asks for a session. */
export interface Asking {
  /** Its id. */
  readonly client_id: string;
  /** What it needs beyond the server's own requirements. */
  readonly require: readonly string[];
}

/**
 * Asks the issuer about a session, for one application where that is told.
 * A deny of what the server requires ends the session, one of what only the
 * application requires takes that out of it; both answer undefined. What is new
 * in an allow is kept, for when the issuer can't be asked.
 *
 * @throws {SigError} when the issuer can't be asked: then nothing ends.
 * @throws {SessionNotEnded} for a deny that the store could not be told.
 */
export type Assess = (
  session: Pick<Session, "sid" | "subject" | "standing">,
  client?: Asking,
  maxAgeSeconds?: number,
) => Promise<Standing | undefined>;

/**
 * The issuer denied, and the session, or the application's part of it, could not
 * be ended: no reason to go on.
 */
export class SessionNotEnded extends SigError {
  constructor(cause: unknown) {
    super(
      "store_unavailable",
      "Cannot end session: the store can't be asked",
      { cause, context: { hint: "Try again in a moment." } },
    );
  }
}

/** Whether nobody could say, so that what the issuer said last may hold. */
export function isSilence(error: unknown): error is SigError {
  return isSigError(error) && !(error instanceof SessionNotEnded);
}

/** Makes the question. */
export function createAssessment(
  { ask, sessions }: AssessmentOptions,
): Assess {
  return async ({ sid, subject, standing: known }, client, maxAgeSeconds) => {
    if (client !== undefined && client.require.length > 0) {
      const { require } = client;
      const standing = await ask.standing(subject, { require, maxAgeSeconds });
      if (standing !== undefined) return standing;
    }
    const standing = await ask.standing(subject, { maxAgeSeconds });
    if (standing === undefined) {
      await sessions.end(sid).catch(notEnded);
      return undefined;
    }
    // It is true whether the store takes it or not; the next question tries again.
    if (isNews(standing, known)) {
      await sessions.learn(sid, standing, known).catch(() => {});
    }
    if (client === undefined || client.require.length === 0) return standing;
    await sessions.leave(sid, client.client_id).catch(notEnded);
    return undefined;
  };
}

function notEnded(cause: unknown): never {
  throw new SessionNotEnded(cause);
}

/** Another process may have seen less of the feed than is known. */
function isNews(standing: Standing, known: Standing): boolean {
  const { relationship_id, type, roles, not_after } = standing;
  return standing.sequence > known.sequence &&
    (relationship_id !== known.relationship_id || type !== known.type ||
      not_after !== known.not_after || roles.length !== known.roles.length ||
      roles.some((role, i) => role !== known.roles[i]));
}
