/** How many sessions one person has. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { PERSON } from "../store/kinds.ts";
import { sha256Base64Url } from "../login/digest.ts";

/**
 * Sessions of one person at a time: so many browsers are nobody's, but a
 * person who can log in must not be able to fill the store.
 */
export const MAX_SESSIONS = 50;

/** A session in the list of its person's. */
interface Listed {
  readonly sid: string;
  /** Milliseconds since 1970. */
  readonly expires_ms: number;
}

/** Which sessions people have. */
interface PersonSessions {
  /**
   * Notes one whose person has just signed; those that are too many now, where
   * that is longest ago, are to end.
   */
  add(subject: string, session: Listed): Promise<readonly string[]>;
  /** Forgets one that has ended. */
  remove(subject: string, sid: string): Promise<void>;
}

/** What {@linkcode createPersonSessions} works with. */
interface PersonSessionsOptions {
  /** Where they are kept. */
  readonly store: RecordStore;
  /** Where people log in: others may share the store. */
  readonly audience: string;
  /** The clock. */
  readonly now: () => Date;
}

/**
 * Makes the lists. A process that dies before it has noted a session, or its
 * end, leaves one too many or too few until that would have expired.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createPersonSessions(
  { store, audience, now }: PersonSessionsOptions,
): PersonSessions {
  const records = recordsOf<readonly Listed[]>(store, PERSON);
  const idOf = (subject: string) =>
    sha256Base64Url(JSON.stringify([audience, subject]));
  return {
    async add(subject, session) {
      const id = await idOf(subject);
      const expiresAt = new Date(session.expires_ms);
      for (;;) {
        const at = now();
        let fallen: readonly Listed[] = [];
        const { after } = await records.change(id, at, (listed) => {
          const going = listed.filter(({ sid, expires_ms }) =>
            sid !== session.sid && at.getTime() < expires_ms
          );
          const all = [...going, session];
          fallen = all.slice(0, -MAX_SESSIONS);
          return all.slice(-MAX_SESSIONS);
        }, { expiresAt });
        if (after !== undefined) return fallen.map(({ sid }) => sid);
        if (await records.create(id, [session], expiresAt, at)) return [];
      }
    },
    async remove(subject, sid) {
      await records.change(
        await idOf(subject),
        now(),
        (listed) => listed.filter((each) => each.sid !== sid),
      );
    },
  };
}
