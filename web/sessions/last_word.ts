/** What an issuer said last, for while it can't be asked. @module */

import { isSigError, type SigError } from "@sig/core";
import {
  type AskIssuer,
  hasEnded,
  type Standing,
} from "../login/login_gate.ts";
import type { Session } from "./session.ts";
import { within } from "./within.ts";

/**
 * Who somebody is by what the issuer said last: to this process about anybody,
 * or to another one about them.
 *
 * @param silence Why the issuer can't be asked.
 * @param require What is asked for beyond the server's own requirements.
 * @throws {SigError} `silence` where the last word was a deny, or said an end that
 * has come: that is no reason to go on, nor to end anything.
 */
export type LastWord = (
  session: Pick<Session, "subject" | "standing">,
  silence: SigError,
  require?: readonly string[],
) => Promise<Standing>;

/** What {@linkcode createLastWord} works with. */
export interface LastWordOptions {
  /** Who can say. */
  readonly ask: Pick<AskIssuer, "remembered">;
  /** The clock. */
  readonly now: () => Date;
}

/** Milliseconds for a look into memory; who has to fetch remembers nothing. */
const LOOK_MS = 250;

/** Makes the question. */
export function createLastWord({ ask, now }: LastWordOptions): LastWord {
  return async ({ subject, standing }, silence, require) => {
    const last = await within(LOOK_MS, ask.remembered(subject, { require }))
      .catch((error) => {
        if (!isSigError(error)) throw error;
        return undefined;
      });
    const known = last === undefined || last.sequence < standing.sequence
      ? standing
      : last.standing;
    if (known === undefined || hasEnded(known, now())) throw silence;
    return known;
  };
}
