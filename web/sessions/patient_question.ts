/** Asking again about who is logged in, while people wait. @module */

import type { SigError } from "@sig/core";
import type { Standing } from "../login/login_gate.ts";
import { type Assess, isSilence } from "./assess.ts";
import type { LastWord } from "./last_word.ts";
import type { Session } from "./session.ts";
import { PATIENCE_MS, within } from "./within.ts";

/** What {@linkcode createPatientQuestion} works with. */
export interface PatientQuestionOptions {
  /** The question. */
  readonly assess: Assess;
  /** What holds while that can't be answered. */
  readonly lastWord: LastWord;
  /** How old the issuer's word may be, in milliseconds. */
  readonly maxAgeMs: number;
  /** The clock. */
  readonly now: () => Date;
}

/** An issuer that is not asked for a while, and why. */
interface Quiet {
  readonly untilMs: number;
  readonly silence: SigError;
}

/** Milliseconds in which an issuer that was silent is not asked again. */
const QUIET_MS = 5_000;

/**
 * Makes the question whether somebody's session goes on, for every page that
 * they open. An issuer that can't be asked, or not in a few seconds, is no deny:
 * then what it said last holds, until the session itself is over. Where that was
 * a deny, or until when, nobody can tell.
 *
 * @returns undefined for a deny, which has ended the session.
 * @throws {SessionNotEnded} for a deny that the store could not be told.
 * @throws {SigError} whatever kept the issuer from being asked, of somebody whom
 * it denied last, or whose relationship was to end meanwhile.
 */
export function createPatientQuestion(
  { assess, lastWord, maxAgeMs, now }: PatientQuestionOptions,
): (session: Session) => Promise<Standing | undefined> {
  let quiet: Quiet | undefined;
  return async (session) => {
    const atMs = now().getTime();
    // A clock that was set back must not make it quiet for long.
    if (
      quiet !== undefined && atMs < quiet.untilMs &&
      quiet.untilMs <= atMs + QUIET_MS
    ) return await lastWord(session, quiet.silence);
    try {
      return await within(
        PATIENCE_MS,
        assess(session, undefined, maxAgeMs / 1000),
      );
    } catch (error) {
      if (!isSilence(error)) throw error;
      quiet = { untilMs: now().getTime() + QUIET_MS, silence: error };
      return await lastWord(session, error);
    }
  };
}
