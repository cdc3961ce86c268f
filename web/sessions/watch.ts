/** Ending the sessions of those whom the issuer does not vouch for. @module */

import { type AskingClient, type Recheck, SessionNotEnded } from "./recheck.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** What {@linkcode createWatch} works with. */
export interface WatchOptions {
  /** Who is watched. */
  readonly sessions: Pick<Sessions, "list" | "end" | "leave">;
  /** The question to the issuer. */
  readonly recheckSession: Recheck["recheckSession"];
  /** What an application requires; undefined for one that is gone. */
  readonly clientOf: (clientId: string) => AskingClient | undefined;
  /** The clock. */
  readonly now: () => Date;
}

/** What a look at all sessions found. */
export interface WatchReport {
  /** Sessions looked at. */
  readonly looked: number;
  /**
   * Sessions that the issuer could not be asked about, which go on, and those
   * that could not be ended.
   */
  readonly unanswered: number;
}

/** Sessions after which other work gets its turn. */
const SLICE = 200;

/**
 * Makes the look at all sessions. The issuer is asked once: what is learnt for
 * the first person is young enough for all others of the same look. Where it
 * can't be asked, nobody is, and nothing ends. A session that the store does not
 * end keeps no other one going.
 */
export function createWatch(options: WatchOptions): () => Promise<WatchReport> {
  const { sessions, recheckSession, clientOf, now } = options;

  async function look(session: Session, beganMs: number): Promise<void> {
    if (session.ended) return await sessions.end(session.sid);
    // As old as this look: the first question of it asks the issuer.
    const maxAge = () => ({ maxAgeMs: Math.max(0, now().getTime() - beganMs) });
    const relationship = await recheckSession(session, maxAge());
    if (relationship === undefined) return;
    for (const clientId of Object.keys(session.clients)) {
      const client = clientOf(clientId);
      if (client === undefined) await sessions.leave(session.sid, clientId);
      else if (client.require.length > 0) {
        await recheckSession(session, { client, ...maxAge() });
      }
    }
  }

  return async () => {
    const beganMs = now().getTime();
    let looked = 0;
    let unanswered = 0;
    let isSilent = false;
    for await (const session of sessions.list()) {
      if (++looked % SLICE === 0) await new Promise((go) => setTimeout(go, 0));
      if (isSilent && !session.ended) {
        unanswered++;
        continue;
      }
      try {
        await look(session, beganMs);
      } catch (error) {
        unanswered++;
        isSilent ||= !session.ended && !(error instanceof SessionNotEnded);
      }
    }
    return { looked, unanswered };
  };
}
