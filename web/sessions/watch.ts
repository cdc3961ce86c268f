/**
 * Ends sessions that the issuer no longer confirms, even without a request of
 * the person.
 *
 * @module
 */

import { pause } from "@sig/api/program";
import { type AskingClient, type Recheck, SessionNotEnded } from "./recheck.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** Options of {@linkcode createWatch}. */
interface WatchOptions {
  readonly sessions: Pick<Sessions, "list" | "end" | "leave">;
  /** Rechecks a session with the issuer. */
  readonly recheckSession: Recheck["recheckSession"];
  /**
   * Returns an application with its requirements; undefined if it no longer
   * exists.
   */
  readonly clientOf: (clientId: string) => AskingClient | undefined;
  readonly now: () => Date;
}

/** The result of checking all sessions. */
export interface WatchReport {
  /** The number of checked sessions. */
  readonly looked: number;
  /**
   * The number of sessions without an answer from the issuer, which continue,
   * and of sessions that the store could not end.
   */
  readonly unanswered: number;
}

type Watched = Session & { readonly isOver: boolean };

/** Number of sessions after which it yields to the event loop. */
const SLICE = 200;

/**
 * Returns a function that checks all sessions. It fetches the issuer's state
 * once, for the first session, and uses it for all others. If the issuer does
 * not respond, the remaining sessions are skipped and nothing ends. A session
 * that the store can't end does not affect the others.
 */
export function createWatch(options: WatchOptions): () => Promise<WatchReport> {
  const { sessions, recheckSession, clientOf, now } = options;

  async function look(session: Watched, beganMs: number): Promise<void> {
    if (session.isOver) return await sessions.end(session.sid);
    // The age of this check, so that only its first query reaches the issuer.
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

/** Options of {@linkcode runInBackground}. */
interface Background {
  /** Checks all sessions. */
  readonly watch: () => Promise<unknown>;
  /** Milliseconds from one check to the next. */
  readonly watchEveryMs: number;
  /** Delivers notifications to applications. */
  readonly deliver: () => Promise<unknown>;
  /** Called with a failure; the work continues. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds from one delivery to the next. */
const DELIVER_EVERY_MS = 1_000;

/**
 * Starts the work. The returned function stops it; its promise resolves when
 * all work has ended.
 */
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
