/** Who is logged in, and how that ends. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { encodeBase64Url, equalInConstantTime } from "@sig/jose/internal";
import { SESSION } from "../store/kinds.ts";
import { sha256Base64Url } from "../login/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import type { ClientQuota } from "../login/client_quota.ts";
import {
  addJoined,
  type Joined,
  type Joining,
  type LoginConditions,
  type LogoutNotification,
  meetsConditions,
  type Session,
} from "./session.ts";
import { createPersonSessions } from "./person_sessions.ts";

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
  readonly terms: LoginConditions;
  /** Makes sure that an application will be told; may be called twice. */
  readonly tell: (farewell: LogoutNotification) => Promise<void>;
  /** Ends what an application was given (default: nothing). */
  readonly drop?: (grant: string) => Promise<void>;
  /** How many one client may have; its oldest end (default: no such limit). */
  readonly quota?: ClientQuota | undefined;
  /** The clock. */
  readonly now: () => Date;
}

/** Somebody who has proved who they are. */
interface LoggedIn<S = MatchedRelationship> {
  /** The person's DID. */
  readonly subject: string;
  /** What the issuer says of them. */
  readonly standing: S;
  /** When the issuer confirmed it, in milliseconds since 1970 (default: now). */
  readonly confirmed_ms?: number;
  /** What they were asked for and did not grant (default: nothing). */
  readonly withheld?: readonly string[];
  /** What they granted (default: nothing). */
  readonly granted?: readonly string[];
}

/** The sessions of a server. */
export interface Sessions<S = MatchedRelationship> {
  /**
   * Begins a session. In a browser with one of the same person that one goes on
   * under a new secret, and what was kept back in it stays so until it is
   * granted; one of somebody else ends. So does the oldest where the person has
   * too many.
   *
   * @param joining The application that it is for, which joins at once.
   * @param client The network address of the client, for its quota.
   * @returns the session, and what the browser's cookie must hold: a secret.
   */
  logIn(
    who: LoggedIn<S>,
    before?: Session<S>,
    joining?: Joining,
    client?: string,
  ): Promise<{ readonly session: Session<S>; readonly cookie: string }>;
  /** The session that a browser's cookie names, if it is going on. */
  find(cookie: string | undefined): Promise<Session<S> | undefined>;
  /**
   * What changes with every change of the session that a cookie names, its end
   * too; the cookie is not judged.
   */
  versionOf(cookie: string | undefined): Promise<string | undefined>;
  /** The session of that name, if it is going on. */
  get(sid: string): Promise<Session<S> | undefined>;
  /**
   * Notes that an application joins, and what it is given; the oldest of that
   * ends where it is too much. Undefined when the session is over.
   */
  join(sid: string, joining: Joining): Promise<Session<S> | undefined>;
  /**
   * The same for an application that has a cookie of its own, which this browser
   * will send to it alone.
   *
   * @returns the session, and what that cookie must hold: a secret.
   */
  issueHostCookie(
    sid: string,
    clientId: string,
  ): Promise<
    { readonly session: Session<S>; readonly cookie: string } | undefined
  >;
  /** The session that an application's own cookie names, if it is going on. */
  findByHostCookie(
    cookie: string | undefined,
    clientId: string,
  ): Promise<Session<S> | undefined>;
  /** Records what the issuer confirmed, unless somebody else did meanwhile. */
  confirm(
    session: Pick<Session<S>, "sid" | "standing">,
    standing: S,
    confirmedMs: number,
  ): Promise<void>;
  /** Takes an application out, and tells it. */
  leave(sid: string, clientId: string): Promise<void>;
  /** Ends a session, and tells its applications. */
  end(sid: string): Promise<void>;
  /**
   * All of this audience, those that are ending included; one that began under
   * other terms is reported as ended, too.
   */
  list(): AsyncIterable<Session<S>>;
}

const SECRET_BYTES = 32;
const SID_BYTES = 16;

/** Cookies of one application in one session: tabs that log in at once. */
const MAX_SECRETS = 4;

/**
 * Makes the sessions of a server. Each is one record, which every change
 * replaces only as it was read: logins that come at once lose nothing.
 *
 * A session ends in three steps, each of which may be done twice: it is marked
 * (from then on nobody finds or joins it), its applications are noted to be told, it is removed. What a crash
 * leaves in between is marked, and the next watch goes on with it.
 *
 * A session of another audience, or by the word of another issuer, or for which
 * less was asked than now, does not count: nobody has
 * confirmed yet what is required.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createSessions<S = MatchedRelationship>(
  options: SessionsOptions,
): Sessions<S> {
  const { store, lifeMs, terms, tell, drop, quota, now } = options;
  const records = recordsOf<Session<S>>(store, SESSION);
  const people = createPersonSessions({ store, audience: terms.audience, now });
  const isOver = (session: Session<S>) =>
    session.ended || session.terms?.audience !== terms.audience ||
    !meetsConditions(session.terms, terms);

  async function dropAll(grants: readonly string[]): Promise<void> {
    for (const grant of grants) await drop?.(grant);
  }

  /** A person with too many keeps the newest. */
  async function note(
    { subject, sid, expires_ms }: Session<S>,
  ): Promise<void> {
    for (const old of await people.add(subject, { sid, expires_ms })) {
      await end(old);
    }
  }

  async function get(sid: string): Promise<Session<S> | undefined> {
    const session = await records.get(sid, now());
    return session && !isOver(session) ? session : undefined;
  }

  async function end(sid: string): Promise<void> {
    const { before } = await records.change(
      sid,
      now(),
      (session) => session.ended ? undefined : { ...session, ended: true },
    );
    if (before === undefined) return;
    for (const [client_id, joined] of Object.entries(before.clients)) {
      const { since_ms, grants = [] } = joined;
      await tell({ client_id, sid, subject: before.subject, since_ms });
      await dropAll(grants);
    }
    await records.take(sid, now());
    await people.remove(before.subject, sid);
  }

  return {
    async logIn(who, before, joining, client) {
      const { subject, standing, withheld = [], granted = [] } = who;
      const at = now();
      const expiresAt = new Date(at.getTime() + lifeMs);
      const secret = randomText(SECRET_BYTES);
      const add = (clients: Session["clients"]) =>
        joining === undefined
          ? { clients, fallen: [] }
          : addJoined(clients, joining, at);
      const fresh = {
        subject,
        terms,
        standing,
        confirmed_ms: who.confirmed_ms ?? at.getTime(),
        withheld,
        secret_sha256: await sha256Base64Url(secret),
        auth_time: Math.floor(at.getTime() / 1000),
        expires_ms: expiresAt.getTime(),
      };
      if (before !== undefined && before.subject !== subject) {
        await end(before.sid);
      } else if (before !== undefined) {
        let fallen: readonly string[] = [];
        const { after } = await records.change(before.sid, at, (session) => {
          if (isOver(session)) return undefined;
          // What applications' cookies held before the login ends with it.
          const kept = Object.entries(session.clients)
            .map(([id, { secrets_sha256: _, ...joined }]) => [id, joined]);
          const added = add(Object.fromEntries(kept));
          fallen = added.fallen;
          // A login that asks for less takes nothing of it back.
          const still = (session.withheld ?? [])
            .filter((each) => !granted.includes(each));
          return {
            ...session,
            ...fresh,
            withheld: [...new Set([...still, ...withheld])],
            clients: added.clients,
          };
        }, { expiresAt });
        if (after !== undefined) {
          await dropAll(fallen);
          await note(after);
          return { session: after, cookie: `${after.sid}.${secret}` };
        }
      }
      const { clients } = add({});
      const session = { ...fresh, sid: randomText(SID_BYTES), clients };
      if (client !== undefined) {
        const own = { id: session.sid, bytes: 0 };
        for (const old of quota?.add(client, own, expiresAt, at) ?? []) {
          await end(old);
        }
      }
      await records.create(session.sid, session, expiresAt, at);
      await note(session);
      return { session, cookie: `${session.sid}.${secret}` };
    },
    async find(cookie) {
      const [sid, secret] = readCookie(cookie);
      if (sid === undefined || secret === undefined) return undefined;
      const session = await get(sid);
      const digest = await sha256Base64Url(secret);
      return session && equalInConstantTime(session.secret_sha256, digest)
        ? session
        : undefined;
    },
    async versionOf(cookie) {
      const [sid] = readCookie(cookie);
      return sid === undefined
        ? undefined
        : (await records.find(sid, now()))?.version;
    },
    get,
    async join(sid, joining) {
      let fallen: readonly string[] = [];
      const { after } = await records.change(sid, now(), (session) => {
        if (isOver(session)) return undefined;
        const added = addJoined(session.clients, joining, now());
        fallen = added.fallen;
        return { ...session, clients: added.clients };
      });
      if (after !== undefined) await dropAll(fallen);
      return after;
    },
    async issueHostCookie(sid, clientId) {
      const secret = randomText(SECRET_BYTES);
      const digest = await sha256Base64Url(secret);
      const { after } = await records.change(sid, now(), (session) => {
        if (isOver(session)) return undefined;
        const joined = Object.hasOwn(session.clients, clientId)
          ? session.clients[clientId]
          : undefined;
        const secrets = joined?.secrets_sha256 ?? [];
        const next: Joined = {
          ...joined,
          since_ms: joined?.since_ms ?? now().getTime(),
          secrets_sha256: [...secrets.slice(1 - MAX_SECRETS), digest],
        };
        return {
          ...session,
          clients: { ...session.clients, [clientId]: next },
        };
      });
      return after && { session: after, cookie: `${sid}.${secret}` };
    },
    async findByHostCookie(cookie, clientId) {
      const [sid, secret] = readCookie(cookie);
      if (sid === undefined || secret === undefined) return undefined;
      const session = await get(sid);
      if (!Object.hasOwn(session?.clients ?? {}, clientId)) return undefined;
      const known = session?.clients[clientId]?.secrets_sha256 ?? [];
      const digest = await sha256Base64Url(secret);
      return known.some((each) => equalInConstantTime(each, digest))
        ? session
        : undefined;
    },
    async confirm({ sid, standing: known }, standing, confirmed_ms) {
      const before = JSON.stringify(known);
      await records.change(
        sid,
        now(),
        (session) =>
          isOver(session) || JSON.stringify(session.standing) !== before
            ? undefined
            : { ...session, standing, confirmed_ms },
      );
    },
    async leave(sid, clientId) {
      const session = await get(sid);
      const joined = session?.clients[clientId];
      if (session === undefined || joined === undefined) return;
      const { subject } = session;
      const { since_ms, grants = [] } = joined;
      await tell({ client_id: clientId, sid, subject, since_ms });
      await dropAll(grants);
      await records.change(sid, now(), (session) => {
        if (session.clients[clientId]?.since_ms !== joined.since_ms) {
          return undefined;
        }
        const { [clientId]: _, ...clients } = session.clients;
        return { ...session, clients };
      });
    },
    end,
    async *list() {
      for await (const [, session] of records.list(now())) {
        if (session.terms?.audience !== terms.audience) continue;
        yield isOver(session) ? { ...session, ended: true } : session;
      }
    },
  };
}

const COOKIE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

function readCookie(cookie = ""): readonly (string | undefined)[] {
  return COOKIE.exec(cookie)?.slice(1) ?? [];
}

/** A text of random bytes, which nobody guesses from 16 on. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
