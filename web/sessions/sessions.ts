/** Who is logged in, and how that ends. @module */

import { encodeBase64Url, equalInConstantTime } from "@sig/jose";
import { digestOf } from "../login/digest.ts";
import type { Standing } from "../login/login_gate.ts";
import { recordsOf } from "../stores/records.ts";
import type { RecordStore } from "../stores/record_store.ts";
import type { Farewell, Session } from "./session.ts";

/** What {@linkcode createSessions} works with. */
export interface SessionsOptions {
  /** Where they are kept. */
  readonly store: RecordStore;
  /** Milliseconds from a login to the session's end. */
  readonly lifeMs: number;
  /** Makes sure that an application will be told; may be called twice. */
  readonly tell: (farewell: Farewell) => Promise<void>;
  /** The clock. */
  readonly now: () => Date;
}

/** Somebody who has proved who they are. */
export interface LoggedIn {
  /** The person's DID. */
  readonly subject: string;
  /** What the issuer says of them. */
  readonly standing: Standing;
  /** What they were asked for and did not grant; nothing unless told. */
  readonly withheld?: readonly string[];
}

/** The sessions of a server. */
export interface Sessions {
  /**
   * Begins a session. In a browser with one of the same person that one goes on
   * under a new secret; one of somebody else ends.
   *
   * @returns the session, and what the browser's cookie must hold: a secret.
   */
  logIn(
    who: LoggedIn,
    before?: Session,
  ): Promise<{ readonly session: Session; readonly cookie: string }>;
  /** The session that a browser's cookie names, if it is going on. */
  find(cookie: string | undefined): Promise<Session | undefined>;
  /** The session of that name, if it is going on. */
  get(sid: string): Promise<Session | undefined>;
  /** Notes that an application joins; undefined when the session is over. */
  join(sid: string, clientId: string): Promise<Session | undefined>;
  /** Takes an application out, and tells it. */
  leave(sid: string, clientId: string): Promise<void>;
  /** Ends a session, and tells its applications. */
  end(sid: string): Promise<void>;
  /** All, those that are ending included. */
  list(): AsyncIterable<Session>;
}

const SECRET_BYTES = 32;
const SID_BYTES = 16;

/**
 * Makes the sessions of a server. Each is one record, which every change
 * replaces only as it was read: logins that come at once lose nothing.
 *
 * A session ends in three steps, each of which may be done twice: it is marked
 * (from then on nobody finds or joins it), its applications are noted to be told, it is removed. What a crash
 * leaves in between is marked, and the next watch goes on with it.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createSessions(options: SessionsOptions): Sessions {
  const { lifeMs, tell, now } = options;
  const records = recordsOf<Session>(options.store, "session");

  async function get(sid: string): Promise<Session | undefined> {
    const session = await records.get(sid, now());
    return session?.ended ? undefined : session;
  }

  async function end(sid: string): Promise<void> {
    const { before } = await records.change(
      sid,
      now(),
      (session) => session.ended ? undefined : { ...session, ended: true },
    );
    if (before === undefined) return;
    for (const [client_id, { since_ms }] of Object.entries(before.clients)) {
      await tell({ client_id, sid, subject: before.subject, since_ms });
    }
    await records.take(sid, now());
  }

  return {
    async logIn({ subject, standing, withheld = [] }, before) {
      const at = now();
      const expiresAt = new Date(at.getTime() + lifeMs);
      const secret = randomText(SECRET_BYTES);
      const fresh = {
        subject,
        standing,
        withheld,
        secret_sha256: await digestOf(secret),
        auth_time: Math.floor(at.getTime() / 1000),
        expires_ms: expiresAt.getTime(),
      };
      if (before !== undefined && before.subject !== subject) {
        await end(before.sid);
      } else if (before !== undefined) {
        const { after } = await records.change(
          before.sid,
          at,
          (session) => session.ended ? undefined : { ...session, ...fresh },
          expiresAt,
        );
        if (after) return { session: after, cookie: `${after.sid}.${secret}` };
      }
      const session = { ...fresh, sid: randomText(SID_BYTES), clients: {} };
      await records.create(session.sid, session, expiresAt, at);
      return { session, cookie: `${session.sid}.${secret}` };
    },
    async find(cookie) {
      const [, sid, secret] = COOKIE.exec(cookie ?? "") ?? [];
      if (sid === undefined || secret === undefined) return undefined;
      const session = await get(sid);
      const digest = await digestOf(secret);
      return session && equalInConstantTime(session.secret_sha256, digest)
        ? session
        : undefined;
    },
    get,
    async join(sid, clientId) {
      const since_ms = now().getTime();
      const { before, after } = await records.change(sid, now(), (session) => {
        if (session.ended || Object.hasOwn(session.clients, clientId)) {
          return undefined;
        }
        const clients = { ...session.clients, [clientId]: { since_ms } };
        return { ...session, clients };
      });
      return after ?? (before?.ended ? undefined : before);
    },
    async leave(sid, clientId) {
      const session = await get(sid);
      const joined = session?.clients[clientId];
      if (session === undefined || joined === undefined) return;
      const { subject } = session;
      await tell({ client_id: clientId, sid, subject, ...joined });
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
      for await (const [, session] of records.list(now())) yield session;
    },
  };
}

const COOKIE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** A text of random bytes, which nobody guesses from 16 on. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
