/** The sessions of people who are logged in. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { equalInConstantTime } from "@sig/jose/internal";
import { SESSION } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";
import { randomText, sha256Base64Url, splitToken } from "../store/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import {
  type LoginConditions,
  type LogoutNotification,
  meetsConditions,
  type Session,
  type SessionClient,
  sessionClient,
} from "./session.ts";

/** Options of {@linkcode createSessions}. */
interface SessionsOptions {
  readonly store: RecordStore;
  /** Lifetime of a session in milliseconds. */
  readonly lifeMs: number;
  /**
   * The current audience and requirements, since a store may contain sessions
   * of an earlier configuration or of another login.
   */
  readonly conditions: LoginConditions;
  /** Notifies an application (default: no notification). */
  readonly notify?: (notification: LogoutNotification) => Promise<void>;
  /**
   * Maximum number of sessions of one network client; its oldest session ends
   * (default: no limit).
   */
  readonly quota?: OwnerQuota;
  readonly now: () => Date;
}

/** A person who has proved their identity; the members are of {@linkcode Session}. */
interface LoggedIn<S = MatchedRelationship> {
  readonly subject: string;
  readonly person?: string;
  readonly relationship: S;
  /**
   * When the issuer confirmed the relationship, in milliseconds since 1970
   * (default: now).
   */
  readonly confirmed_ms?: number;
  /** The consent for the application that joins immediately (default: none). */
  readonly consent?: Consent | undefined;
  /** The client's network address, for its quota. */
  readonly client?: string | undefined;
}

/** A person's consent, as in {@linkcode SessionClient}. */
interface Consent {
  readonly clientId: string;
  readonly asked: readonly string[];
  readonly granted: readonly string[];
}

/** The sessions of a server. */
export type Sessions<S = MatchedRelationship> = ReturnType<
  typeof createSessions<S>
>;

/** Default lifetime of a session in milliseconds. */
export const DEFAULT_SESSION_MS = 8 * 3_600_000;

const SECRET_BYTES = 32;
const ID_BYTES = 16;

/**
 * Maximum number of applications of one session; the first to join leaves. A
 * session is one record, and a record too large for the store could not even be
 * marked as ended.
 */
const MAX_CLIENTS = 64;
/** Maximum number of sessions of one person; the oldest ends. */
export const MAX_SESSIONS = 50;
/**
 * Milliseconds that a process has to end a session before another process
 * retries.
 */
const ENDING_MS = 20_000;

/**
 * Creates the sessions of a server. Each session is one record, which is
 * replaced only if it is unchanged since it was read, so that concurrent logins
 * lose nothing.
 *
 * A session ends in three steps: it is marked as ended (and can't be found or
 * joined any more, which makes the tokens of its applications invalid), the
 * notifications of its applications are stored, and it is removed. After a crash
 * in between, the next watch completes the steps.
 *
 * A session with another audience, another issuer or fewer requirements than
 * the current ones is rejected, since the current requirements are not
 * confirmed.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createSessions<S = MatchedRelationship>(
  options: SessionsOptions,
) {
  const { store, lifeMs, conditions, notify, quota, now } = options;
  const records = recordsOf<Session<S>>(store, SESSION);
  const people = new OwnerQuota({ maxRecords: MAX_SESSIONS });
  const isOver = (session: Session<S>) =>
    session.ended_ms !== undefined ||
    session.conditions?.audience !== conditions.audience ||
    !meetsConditions(session.conditions, conditions);

  /** Returns a session by its id, unless it is over. */
  async function get(sid: string): Promise<Session<S> | undefined> {
    const session = await records.get(sid, now());
    return session && !isOver(session) ? session : undefined;
  }

  /** Stores the notification of an application that its part is over. */
  const dismiss = async (
    { sid, person: subject }: Session<S>,
    client_id: string,
    { id: joined }: SessionClient,
  ) => await notify?.({ client_id, sid, subject, joined });

  /**
   * Notifies an application and removes it from a session, which makes its
   * tokens invalid.
   */
  async function leave(sid: string, clientId: string): Promise<void> {
    const session = await get(sid);
    const joined = session && sessionClient(session, clientId);
    if (!joined) return;
    await dismiss(session, clientId, joined);
    await records.change(sid, now(), (session) => {
      const { [clientId]: left, ...clients } = session.clients;
      return left?.id === joined.id ? { ...session, clients } : undefined;
    });
  }

  /** Removes the applications that joined first if there are too many. */
  async function trim({ sid, clients }: Session<S>): Promise<void> {
    const excess = Object.entries(clients)
      .sort(([, a], [, b]) => a.since_ms - b.since_ms)
      .slice(0, -MAX_CLIENTS);
    for (const [clientId] of excess) await leave(sid, clientId);
  }

  /** Ends a session, and notifies its applications. */
  async function end(sid: string): Promise<void> {
    const atMs = now().getTime();
    // Only one process ends the session, so each application is notified once.
    const { after: ending } = await records.change(
      sid,
      now(),
      (session) =>
        isBeingEnded(session, atMs)
          ? undefined
          : { ...session, ended_ms: atMs },
    );
    if (ending === undefined) return;
    for (const [clientId, joined] of Object.entries(ending.clients)) {
      await dismiss(ending, clientId, joined);
    }
    await records.take(sid, now());
    people.remove(ending.person, sid);
  }

  return {
    /**
     * Begins a session. If the browser already has a session of the same
     * person, that session continues with a new secret; a session of another
     * person ends. If the person has too many sessions, the oldest ends.
     */
    async logIn(login: LoggedIn<S>, before?: Session<S>) {
      const { subject, person = subject, relationship } = login;
      const { consent, client } = login;
      const at = now();
      const until = new Date(at.getTime() + lifeMs);
      const secret = randomText(SECRET_BYTES);
      const fresh = {
        subject,
        person,
        conditions,
        relationship,
        confirmed_ms: login.confirmed_ms ?? at.getTime(),
        secret_sha256: sha256Base64Url(secret),
        auth_time: Math.floor(at.getTime() / 1000),
        expires_ms: until.getTime(),
      };
      const join = (clients: Session["clients"]) =>
        consent === undefined ? clients : withConsent(clients, consent, at);
      let session: Session<S> | undefined;
      if (before !== undefined && before.person !== person) {
        await end(before.sid);
      } else if (before !== undefined) {
        ({ after: session } = await records.change(before.sid, at, (known) => {
          if (isOver(known)) return undefined;
          return { ...known, ...fresh, clients: join(known.clients) };
        }, { expiresAt: until }));
      }
      if (session === undefined) {
        session = { ...fresh, sid: randomText(ID_BYTES), clients: join({}) };
        await records.create(session.sid, session, until, at);
      }
      const { sid } = session;
      const displaced = people.add(person, { id: sid, until }, at);
      if (client !== undefined) {
        displaced.push(...quota?.add(client, { id: sid, until }, at) ?? []);
      }
      for (const old of displaced) await end(old);
      await trim(session);
      return { session, cookie: `${sid}.${secret}` };
    },
    /** Returns the session of a browser's cookie, unless it is over. */
    async find(cookie: string | undefined) {
      const token = splitToken(cookie);
      const session = token && await get(token.id);
      const digest = sha256Base64Url(token?.secret ?? "");
      return session && equalInConstantTime(session.secret_sha256, digest)
        ? session
        : undefined;
    },
    /**
     * Returns the version of the record of a cookie's session, which changes
     * with every change and with its end. The cookie's secret is not compared.
     */
    async versionOf(cookie: string | undefined) {
      const token = splitToken(cookie);
      // Reads the record from the store without parsing its text.
      return token && (await store.get(SESSION, token.id, now()))?.version;
    },
    get,
    /**
     * Records a confirmation by the issuer, unless a concurrent request changed
     * the relationship.
     */
    async confirm(
      { sid, relationship: known }: Pick<Session<S>, "sid" | "relationship">,
      relationship: S,
      confirmed_ms: number,
    ) {
      const before = JSON.stringify(known);
      await records.change(
        sid,
        now(),
        (session) =>
          isOver(session) || JSON.stringify(session.relationship) !== before
            ? undefined
            : { ...session, relationship, confirmed_ms },
      );
    },
    leave,
    end,
    /**
     * Lists all sessions of this audience, including those that are ending. A
     * session that does not meet the current requirements has `isOver` too.
     */
    async *list() {
      for await (const [, session] of records.list(now())) {
        if (session.conditions?.audience !== conditions.audience) continue;
        yield { ...session, isOver: isOver(session) };
      }
    },
  };
}

/**
 * Whether another process is ending a session. If the clock was set back by
 * more than the time for it, that process is not awaited.
 */
function isBeingEnded({ ended_ms }: Session<unknown>, atMs: number): boolean {
  return ended_ms !== undefined && Math.abs(atMs - ended_ms) < ENDING_MS;
}

/**
 * Adds a consent to an application. Earlier decisions about other scopes
 * remain.
 */
function withConsent(
  clients: Session["clients"],
  { clientId, asked, granted }: Consent,
  at: Date,
): Session["clients"] {
  const joined = sessionClient({ clients }, clientId) ??
    {
      id: randomText(ID_BYTES),
      since_ms: at.getTime(),
      asked: [],
      granted: [],
    };
  const kept = joined.granted.filter((each) => !asked.includes(each));
  return {
    ...clients,
    [clientId]: {
      ...joined,
      asked: [...new Set([...joined.asked, ...asked])],
      granted: [...kept, ...granted],
    },
  };
}
