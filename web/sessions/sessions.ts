/** Who is logged in, and how that ends. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { equalInConstantTime } from "@sig/jose/internal";
import { SESSION } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";
import { randomText, sha256Base64Url } from "../login/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import {
  type LoginConditions,
  type LogoutNotification,
  meetsConditions,
  personOfSession,
  type Session,
  type SessionClient,
  sessionClient,
} from "./session.ts";

/** What {@linkcode createSessions} works with. */
interface SessionsOptions {
  /** Where they are kept. */
  readonly store: RecordStore;
  /** Milliseconds from a login to the session's end. */
  readonly lifeMs: number;
  /**
   * Where people log in here, and what is required of them now: a store that is
   * kept outlives a configuration, and may have sessions of others in it.
   */
  readonly conditions: LoginConditions;
  /** Sees to it that an application is notified (default: none is). */
  readonly notify?: (notification: LogoutNotification) => Promise<void>;
  /** Ends what an application was given (default: nothing). */
  readonly drop?: (grant: string) => Promise<void>;
  /** How many one client may have; its oldest end (default: no such limit). */
  readonly quota?: OwnerQuota;
  /** The clock. */
  readonly now: () => Date;
}

/** Somebody who has proved who they are. */
interface LoggedIn<S = MatchedRelationship> {
  /** The DID of the key that signed. */
  readonly subject: string;
  /** The person's root (default: the subject). */
  readonly person?: string;
  /** What the issuer says of them. */
  readonly relationship: S;
  /** When the issuer confirmed it, in milliseconds since 1970 (default: now). */
  readonly confirmed_ms?: number;
  /** The application that it is for, which joins at once (default: none). */
  readonly consent?: Consent | undefined;
  /** The network address of the client, for its quota. */
  readonly client?: string | undefined;
}

/** What a person agreed to. */
interface Consent {
  /** The application. */
  readonly clientId: string;
  /** What the person was asked for. */
  readonly asked: readonly string[];
  /** What of that the person granted. */
  readonly granted: readonly string[];
}

/** The sessions of a server. */
export type Sessions<S = MatchedRelationship> = ReturnType<
  typeof createSessions<S>
>;

const SECRET_BYTES = 32;
const ID_BYTES = 16;

/** Cookies of one host in one session: tabs that log in at once. */
const MAX_SECRETS = 4;
/** What one application may have been given in one session. */
export const MAX_GRANTS = 16;
/**
 * Applications of one session; the one that joined first leaves. A session is
 * one record, and one that no store takes any more could not even be ended.
 */
const MAX_CLIENTS = 64;
/** Sessions of one person; the oldest ends. */
export const MAX_SESSIONS = 50;
/** Milliseconds in which who ends a session is done, or another one does it. */
const ENDING_MS = 20_000;

/**
 * Makes the sessions of a server. Each is one record, which every change
 * replaces only as it was read: logins that come at once lose nothing.
 *
 * A session ends in three steps: it is marked (from then on nobody finds or
 * joins it), the notifications of its applications are stored, it is removed. One that a
 * crash leaves in between is ended by the next watch.
 *
 * A session of another audience, or of another issuer, or for which less was
 * asked than now, does not count: nobody has confirmed yet what is required.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createSessions<S = MatchedRelationship>(
  options: SessionsOptions,
) {
  const { store, lifeMs, conditions, notify, drop, quota, now } = options;
  const records = recordsOf<Session<S>>(store, SESSION);
  const people = new OwnerQuota({ maxRecords: MAX_SESSIONS });
  const isOver = (session: Session<S>) =>
    session.ended_ms !== undefined ||
    session.conditions?.audience !== conditions.audience ||
    !meetsConditions(session.conditions, conditions);

  /** The session of that name, unless it is over. */
  async function get(sid: string): Promise<Session<S> | undefined> {
    const session = await records.get(sid, now());
    return session && !isOver(session) ? session : undefined;
  }

  async function findBy(
    cookie: string | undefined,
    digestsOf: (session: Session<S>) => readonly string[] | undefined,
  ): Promise<Session<S> | undefined> {
    const [sid, secret] = readCookie(cookie);
    if (sid === undefined || secret === undefined) return undefined;
    const session = await get(sid);
    const digest = sha256Base64Url(secret);
    return session &&
        digestsOf(session)?.some((each) => equalInConstantTime(each, digest))
      ? session
      : undefined;
  }

  /** Tells an application that its part is over, and ends what it was given. */
  async function dismiss(
    session: Session<S>,
    client_id: string,
  ): Promise<void> {
    const { id: joined, grants = [] } = session.clients[client_id]!;
    const { sid } = session;
    const subject = personOfSession(session);
    await notify?.({ client_id, sid, subject, joined });
    for (const grant of grants) await drop?.(grant);
  }

  /** Takes an application out of a session, and notifies it. */
  async function leave(sid: string, clientId: string): Promise<void> {
    const session = await get(sid);
    if (!session || !Object.hasOwn(session.clients, clientId)) return;
    await dismiss(session, clientId);
    const { id } = session.clients[clientId]!;
    await records.change(sid, now(), (session) => {
      const { [clientId]: left, ...clients } = session.clients;
      return left?.id === id ? { ...session, clients } : undefined;
    });
  }

  /** The applications that joined first leave where there are too many. */
  async function trim({ sid, clients }: Session<S>): Promise<void> {
    const excess = Object.entries(clients)
      .sort(([, a], [, b]) => a.since_ms - b.since_ms)
      .slice(0, -MAX_CLIENTS);
    for (const [clientId] of excess) await leave(sid, clientId);
  }

  /** Changes an application's part of a session, unless that is over. */
  const changeClient = (
    sid: string,
    clientId: string,
    next: (joined: SessionClient | undefined) => SessionClient | undefined,
  ) =>
    records.change(sid, now(), (session) => {
      const joined = isOver(session)
        ? undefined
        : next(sessionClient(session, clientId));
      return joined &&
        { ...session, clients: { ...session.clients, [clientId]: joined } };
    });

  /** Ends a session, and notifies its applications. */
  async function end(sid: string): Promise<void> {
    const atMs = now().getTime();
    let isMine = false;
    const { before } = await records.change(sid, now(), (session) => {
      // Who has begun to end it tells each application once.
      const sinceMs = Math.abs(atMs - (session.ended_ms ?? -Infinity));
      isMine = !(sinceMs < ENDING_MS);
      return isMine ? { ...session, ended_ms: atMs } : undefined;
    });
    if (before === undefined || !isMine) return;
    for (const id of Object.keys(before.clients)) await dismiss(before, id);
    await records.take(sid, now());
    people.remove(personOfSession(before), sid);
  }

  return {
    /**
     * Begins a session. In a browser with one of the same person, that one
     * continues under a new secret; one of somebody else ends. So does the oldest
     * where the person has too many.
     */
    async logIn(who: LoggedIn<S>, before?: Session<S>) {
      const { subject, person = subject, relationship, consent, client } = who;
      const at = now();
      const until = new Date(at.getTime() + lifeMs);
      const secret = randomText(SECRET_BYTES);
      const fresh = {
        ...{ subject, person, conditions, relationship },
        confirmed_ms: who.confirmed_ms ?? at.getTime(),
        secret_sha256: sha256Base64Url(secret),
        auth_time: Math.floor(at.getTime() / 1000),
        expires_ms: until.getTime(),
      };
      const join = (clients: Session["clients"]) =>
        consent === undefined ? clients : withConsent(clients, consent, at);
      let session: Session<S> | undefined;
      if (before !== undefined && personOfSession(before) !== person) {
        await end(before.sid);
      } else if (before !== undefined) {
        ({ after: session } = await records.change(before.sid, at, (known) => {
          if (isOver(known)) return undefined;
          // What the cookies of hosts held before the login ends with it.
          const kept = Object.entries(known.clients)
            .map(([id, { secrets_sha256: _, ...joined }]) => [id, joined]);
          const clients = join(Object.fromEntries(kept));
          return { ...known, ...fresh, clients };
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
    /** The session that a browser's cookie names, unless it is over. */
    find: (cookie: string | undefined) =>
      findBy(cookie, ({ secret_sha256 }) => [secret_sha256]),
    /**
     * What changes with every change of the session that a cookie names, its end
     * too; the cookie's secret is not compared.
     */
    async versionOf(cookie: string | undefined) {
      const [sid] = readCookie(cookie);
      // The store's own record: its text need not be read.
      return sid === undefined
        ? undefined
        : (await store.get(SESSION, sid, now()))?.version;
    },
    get,
    /**
     * Records the id of a grant for an application; its oldest grant ends where
     * there are too many. Undefined when the session, or the application's part
     * of it, is over.
     */
    async addGrant(sid: string, clientId: string, grant: string) {
      let displaced: readonly string[] = [];
      const { after } = await changeClient(sid, clientId, (joined) => {
        const all = [...joined?.grants ?? [], grant];
        displaced = all.slice(0, -MAX_GRANTS);
        return joined && { ...joined, grants: all.slice(-MAX_GRANTS) };
      });
      if (after === undefined) return undefined;
      for (const old of displaced) await drop?.(old);
      return sessionClient(after, clientId);
    },
    /**
     * Lets a host behind forward auth join, with a cookie of its own, which this
     * browser will send to it alone. Undefined when the session is over.
     */
    async issueHostCookie(sid: string, clientId: string) {
      const secret = randomText(SECRET_BYTES);
      const digest = sha256Base64Url(secret);
      const { after } = await changeClient(
        sid,
        clientId,
        (joined = joinedAt(now())) => {
          const kept = joined.secrets_sha256?.slice(1 - MAX_SECRETS) ?? [];
          return { ...joined, secrets_sha256: [...kept, digest] };
        },
      );
      if (after === undefined) return undefined;
      await trim(after);
      return { session: after, cookie: `${sid}.${secret}` };
    },
    /** The session that a host's own cookie names, unless it is over. */
    findByHostCookie: (cookie: string | undefined, clientId: string) =>
      findBy(
        cookie,
        (session) => sessionClient(session, clientId)?.secrets_sha256,
      ),
    /** Records what the issuer confirmed, unless another request did meanwhile. */
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
     * All of this audience, those that are ending included; a session that began
     * under other conditions is reported as over, too.
     */
    async *list() {
      for await (const [, session] of records.list(now())) {
        if (session.conditions?.audience !== conditions.audience) continue;
        yield { ...session, isOver: isOver(session) };
      }
    },
  };
}

function joinedAt(at: Date): SessionClient {
  const id = randomText(ID_BYTES);
  return { id, since_ms: at.getTime(), asked: [], granted: [], grants: [] };
}

/** What was asked for before and not now stays granted or kept back. */
function withConsent(
  clients: Session["clients"],
  { clientId, asked, granted }: Consent,
  at: Date,
): Session["clients"] {
  const joined = sessionClient({ clients }, clientId) ?? joinedAt(at);
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

const COOKIE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

function readCookie(cookie = ""): readonly (string | undefined)[] {
  return COOKIE.exec(cookie)?.slice(1) ?? [];
}
