/** Whether a session may continue, also while the issuer gives no answer. @module */

import { isSigError, SigError } from "@sig/core";
import {
  type AskIssuer,
  hasEnded,
  type IssuerAnswer,
  type MatchedRelationship,
} from "../login/relationship.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** What {@linkcode createRecheck} works with. */
interface RecheckOptions {
  /** The question to the issuer. */
  readonly ask: (
    ...asked: Parameters<AskIssuer>
  ) => Promise<Omit<IssuerAnswer, "personOf">>;
  /** What ends, and what is known. */
  readonly sessions: Pick<Sessions, "end" | "leave" | "confirm">;
  /**
   * Milliseconds for which a session continues after it was last confirmed,
   * while the issuer gives no answer.
   */
  readonly graceMs: number;
  /** The clock. */
  readonly now: () => Date;
}

/** An application that asks for a session. */
export interface AskingClient {
  /** Its id. */
  readonly client_id: string;
  /** What it needs beyond the server's own requirements. */
  readonly require: readonly string[];
}

/** How a session is checked again. */
interface RecheckQuestion {
  /** The application that asks (default: none). */
  readonly client?: AskingClient | undefined;
  /** How old the issuer's state may be (default: that of the login). */
  readonly maxAgeMs?: number | undefined;
}

type Checked = Pick<
  Session,
  "sid" | "subject" | "relationship" | "confirmed_ms"
>;

/** Both ways to check a session again. */
export type Recheck = ReturnType<typeof createRecheck>;

/** Milliseconds that a page waits for the issuer. */
const WAIT_MS = 3_000;
/** Milliseconds in which an issuer without an answer is not asked again. */
const QUIET_MS = 5_000;

/**
 * The issuer denied, and the session, or the application's part of it, could not
 * be ended: the session must not continue.
 */
export class SessionNotEnded extends SigError {
  /** For the error of the store. */
  constructor(cause: unknown) {
    super(
      "store_unavailable",
      "Cannot end session: the store can't be asked",
      { cause, context: { hint: "Try again in a moment." } },
    );
  }
}

/** Whether the issuer gave no answer, so that the grace period applies. */
export function isIssuerUnavailable(error: unknown): error is SigError {
  return isSigError(error) && !(error instanceof SessionNotEnded);
}

/** Makes both. */
export function createRecheck(
  { ask, sessions, graceMs, now }: RecheckOptions,
) {
  let quiet: { readonly untilMs: number; readonly error: SigError } | undefined;

  /**
   * Asks the issuer. A deny of what the server requires ends the session; a deny
   * of what only the application requires takes that application out of it. Both
   * return undefined.
   *
   * @throws {SigError} when the issuer gives no answer; then nothing ends.
   * @throws {SessionNotEnded} for a deny that the store could not record.
   */
  async function recheckSession(
    session: Checked,
    { client, maxAgeMs }: RecheckQuestion = {},
  ): Promise<MatchedRelationship | undefined> {
    const { sid, subject } = session;
    const require = client?.require ?? [];
    if (require.length > 0) {
      const { relationship } = await ask(subject, { require, maxAgeMs });
      if (relationship !== undefined) return relationship;
    }
    const { relationship, observedMs } = await ask(subject, { maxAgeMs });
    if (relationship === undefined) {
      await sessions.end(sid).catch(notEnded);
      return undefined;
    }
    // It is true whether the store takes it or not; the next question tries again.
    if (
      isNews(relationship, session.relationship) ||
      // Also where a record of an older version says none.
      (graceMs > 0 && !(observedMs < session.confirmed_ms + graceMs / 4))
    ) await sessions.confirm(session, relationship, observedMs).catch(() => {});
    if (client === undefined || require.length === 0) return relationship;
    await sessions.leave(sid, client.client_id).catch(notEnded);
    return undefined;
  }

  /** What holds while the issuer gives no answer. */
  async function lastConfirmed(
    { subject, relationship: known, confirmed_ms }: Checked,
    error: SigError,
    require: readonly string[],
    wasMet: boolean,
  ): Promise<MatchedRelationship> {
    const last = await ask(
      subject,
      { require, maxAgeMs: Infinity, refresh: false },
    ).catch((cause) => {
      if (!isSigError(cause)) throw cause;
      return undefined;
    });
    const isNewer = last !== undefined &&
      last.answer.last_sequence >= known.sequence;
    const relationship = isNewer
      ? last.relationship
      : wasMet
      ? known
      : undefined;
    const confirmedMs = isNewer
      ? Math.max(last.observedMs, confirmed_ms)
      : confirmed_ms;
    const at = now();
    if (
      relationship === undefined || hasEnded(relationship, at) ||
      !(at.getTime() < confirmedMs + graceMs)
    ) throw error;
    return relationship;
  }

  return {
    recheckSession,
    /**
     * The same for a person who waits for a page: three seconds, and while the
     * issuer gives no answer, the session continues for the grace period.
     *
     * Then the relationship is what this process last read of the issuer, or what
     * the session has, whichever is newer. After the grace period, or where that
     * was a deny or has ended, the answer is unknown.
     *
     * @param question.wasMet Whether the session's relationship is known to meet
     * what the client requires (default: it requires nothing).
     * @throws {SigError} the issuer's error; nothing ends.
     * @throws {SessionNotEnded} as above.
     */
    async recheckOrGrace(
      session: Checked,
      { client, maxAgeMs, wasMet = true }: RecheckQuestion & {
        readonly wasMet?: boolean;
      } = {},
    ): Promise<MatchedRelationship | undefined> {
      const require = client?.require ?? [];
      const atMs = now().getTime();
      // A clock that was set back must not make it quiet for long.
      const isQuiet = quiet !== undefined && atMs < quiet.untilMs &&
        quiet.untilMs <= atMs + QUIET_MS;
      try {
        if (isQuiet) throw quiet!.error;
        return await withinWait(recheckSession(session, { client, maxAgeMs }));
      } catch (error) {
        if (!isIssuerUnavailable(error)) throw error;
        if (!isQuiet) quiet = { untilMs: now().getTime() + QUIET_MS, error };
        return await lastConfirmed(session, error, require, wasMet);
      }
    },
  };
}

function notEnded(cause: unknown): never {
  throw new SessionNotEnded(cause);
}

/** Another process may have read less of the feed than is known. */
function isNews(
  { sequence, relationship_id, type, not_after, roles }: MatchedRelationship,
  known: MatchedRelationship,
): boolean {
  return sequence > known.sequence &&
    (relationship_id !== known.relationship_id || type !== known.type ||
      not_after !== known.not_after || roles.length !== known.roles.length ||
      roles.some((role, i) => role !== known.roles[i]));
}

/** @throws {SigError} `fetch_timeout` when the work takes longer. */
async function withinWait<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(
        new SigError("fetch_timeout", "Cannot ask issuer: it is too slow"),
      ),
    WAIT_MS,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
