/** Asking again about who is logged in, while people wait. @module */

import { isSigError, SigError } from "@sig/core";
import { hasEnded, type Standing } from "../login/login_gate.ts";
import { type Assess, SessionNotEnded } from "./assess.ts";
import type { Session } from "./session.ts";

/** What {@linkcode createPatientQuestion} works with. */
export interface PatientQuestionOptions {
  /** The question. */
  readonly assess: Assess;
  /** How old the issuer's word may be, in milliseconds. */
  readonly maxAgeMs: number;
  /** The clock. */
  readonly now: () => Date;
}

/** Milliseconds in which an issuer that was silent is not asked again. */
const QUIET_MS = 5_000;

/** Milliseconds that a page of an application waits for the issuer. */
const PATIENCE_MS = 3_000;

/**
 * Makes the question whether somebody's session goes on, for every page that
 * they open. An issuer that can't be asked, or not in a few seconds, is no deny:
 * then what it said last holds, until the session itself is over. Where that was
 * until when, nobody can tell any more from then on.
 *
 * @returns undefined for a deny, which has ended the session.
 * @throws {SessionNotEnded} for a deny that the store could not be told.
 * @throws {SigError} whatever kept the issuer from being asked, of somebody whose
 * relationship was to end meanwhile.
 */
export function createPatientQuestion(
  { assess, maxAgeMs, now }: PatientQuestionOptions,
): (session: Session) => Promise<Standing | undefined> {
  let quietUntilMs = -Infinity;
  let silence: SigError | undefined;

  function lastWord({ standing }: Session): Standing {
    if (silence !== undefined && hasEnded(standing, now())) throw silence;
    return standing;
  }

  return async (session) => {
    const atMs = now().getTime();
    // A clock that was set back must not make it quiet for long.
    if (atMs < quietUntilMs && quietUntilMs <= atMs + QUIET_MS) {
      return lastWord(session);
    }
    try {
      return await within(
        PATIENCE_MS,
        assess(session, undefined, maxAgeMs / 1000),
      );
    } catch (error) {
      if (!isSigError(error) || error instanceof SessionNotEnded) throw error;
      quietUntilMs = now().getTime() + QUIET_MS;
      silence = error;
      return lastWord(session);
    }
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(new SigError("fetch_timeout", "Cannot ask issuer: it is slow")),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
