/** Whether a session may go on, by the issuer's word. @module */

import { SigError } from "@sig/core";
import type { AskIssuer, Standing } from "../login/login_gate.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** What {@linkcode createAssessment} works with. */
export interface AssessmentOptions {
  /** Who can say. */
  readonly ask: Pick<AskIssuer, "standing">;
  /** What ends. */
  readonly sessions: Pick<Sessions, "end" | "leave">;
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
 * application requires takes that out of it; both answer undefined.
 *
 * @throws {SigError} when the issuer can't be asked: then nothing ends.
 * @throws {SessionNotEnded} for a deny that the store could not be told.
 */
export type Assess = (
  session: Pick<Session, "sid" | "subject">,
  client?: Asking,
  maxAgeSeconds?: number,
) => Promise<Standing | undefined>;

/** The issuer denied, and the session could not be ended: no reason to go on. */
export class SessionNotEnded extends SigError {
  constructor(cause: unknown) {
    super(
      "store_unavailable",
      "Cannot end session: the store can't be asked",
      { cause, context: { hint: "Try again in a moment." } },
    );
  }
}

/** Makes the question. */
export function createAssessment(
  { ask, sessions }: AssessmentOptions,
): Assess {
  return async ({ sid, subject }, client, maxAgeSeconds) => {
    if (client !== undefined && client.require.length > 0) {
      const { require } = client;
      const standing = await ask.standing(subject, { require, maxAgeSeconds });
      if (standing !== undefined) return standing;
    }
    const standing = await ask.standing(subject, { maxAgeSeconds });
    if (standing === undefined) {
      await sessions.end(sid).catch((cause) => {
        throw new SessionNotEnded(cause);
      });
      return undefined;
    }
    if (client === undefined || client.require.length === 0) return standing;
    await sessions.leave(sid, client.client_id);
    return undefined;
  };
}
