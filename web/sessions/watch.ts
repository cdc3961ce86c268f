/** Ends sessions that the issuer no longer confirms, also of people who send no request. @module */

import { pause } from "@sig/api/process";
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

type Watched = Session & { readonly isOver: boolean };

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

  async function look(session: Watched, beganMs: number): Promise<void> {
    if (session.isOver) return await sessions.end(session.sid);
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
      if (isSilent && !session.isOver) {
        unanswered++;
        continue;
      }
      try {
        await look(session, beganMs);
      } catch (error) {
        unanswered++;
        isSilent ||= !session.isOver && !(error instanceof SessionNotEnded);
      }
    }
    return { looked, unanswered };
  };
}

/** What {@linkcode runInBackground} does, and how often. */
interface Background {
  /** Looks at all sessions. */
  readonly watch: () => Promise<unknown>;
  /** Milliseconds from one look to the next. */
  readonly watchEveryMs: number;
  /** Tells applications. */
  readonly deliver: () => Promise<unknown>;
  /** Called with a failure; the work continues. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds from one delivery to the next. */
const DELIVER_EVERY_MS = 1_000;

/** Does it until it is stopped; the promise resolves when all has ended. */
export function runInBackground(work: Background): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loops = [
    repeat(work.watchEveryMs, async () => {
      await work.watch();
      await work.deliver();
    }),
    repeat(DELIVER_EVERY_MS, work.deliver),
  ];

  async function repeat(everyMs: number, once: () => Promise<unknown>) {
    while (!signal.aborted) {
      const began = performance.now();
      try {
        await once();
      } catch (error) {
        work.failed(error);
      }
      const leftMs = everyMs - (performance.now() - began);
      await pause(Math.max(leftMs, 10), signal);
    }
  }

  return async () => {
    stopping.abort();
    await Promise.all(loops);
  };
}
