/**
 * Checks whether a session may continue, also if the issuer does not respond.
 *
 * @module
 */

import { isSigError, SigError } from "@sig/core";
import {
  type AskIssuer,
  hasEnded,
  type IssuerAnswer,
  type MatchedRelationship,
} from "../login/relationship.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** Options of {@linkcode createRecheck}. */
interface RecheckOptions {
  /** Queries the issuer about a subject. */
  readonly ask: (
    ...asked: Parameters<AskIssuer>
  ) => Promise<Omit<IssuerAnswer, "personOf">>;
  /** The sessions to end and to update. */
  readonly sessions: Pick<Sessions, "end" | "leave" | "confirm">;
  /**
   * Milliseconds for which a session continues after its last confirmation if
   * the issuer does not respond.
   */
  readonly graceMs: number;
  readonly now: () => Date;
}

/** An application that uses a session. */
export interface AskingClient {
  readonly client_id: string;
  /** Its requirements besides those of the server. */
  readonly require: readonly string[];
}

/** Options of a recheck. */
interface RecheckQuestion {
  /** The application that uses the session (default: none). */
  readonly client?: AskingClient | undefined;
  /**
   * Maximum age of the issuer's state in milliseconds (default: that of the
   * login).
   */
  readonly maxAgeMs?: number | undefined;
}

type Checked = Pick<
  Session,
  "sid" | "subject" | "relationship" | "confirmed_ms"
>;

/** The two ways to recheck a session. */
export type Recheck = ReturnType<typeof createRecheck>;

/** Default grace period in milliseconds. */
export const DEFAULT_GRACE_MS = 3_600_000;
/**
 * Default maximum age of the issuer's answer about a person who is logged in,
 * in milliseconds.
 */
export const DEFAULT_RECHECK_MS = 30_000;
/** Milliseconds for which a page waits for the issuer. */
const WAIT_MS = 3_000;
/** Milliseconds without queries after an issuer did not respond. */
const QUIET_MS = 5_000;

/**
 * The issuer denied, but the store could not end the session or the
 * application's part in it. The session must not continue.
 */
export class SessionNotEnded extends SigError {
  /** Wraps the error of the store. */
  constructor(cause: unknown) {
    super("store_unavailable", {
      action: "end session",
      reason: "the store does not respond",
      context: { hint: "Try again in a moment." },
      cause,
    });
  }
}

/**
 * Whether an error means that the issuer gave no answer, so that the grace
 * applies: it is unreachable, invalid or contradictory. Unlike the consumer's
 * grace, this one counts from the session's last confirmation.
 */
export function gaveNoAnswer(error: unknown): error is SigError {
  return isSigError(error) && !(error instanceof SessionNotEnded);
}

/** Creates the two functions. */
export function createRecheck({ ask, sessions, graceMs, now }: RecheckOptions) {
  let quiet: { readonly untilMs: number; readonly error: SigError } | undefined;

  /**
   * Queries the issuer. If the server's requirements are denied, the session
   * ends; if only those of the application are denied, the application leaves
   * the session. Both cases return undefined.
   *
   * @throws {SigError} if the issuer does not respond; nothing ends.
   * @throws {SessionNotEnded} if the store could not record a deny.
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
    // The answer is valid even if the store fails; the next recheck writes
    // again.
    if (
      isNews(relationship, session.relationship) ||
      (graceMs > 0 && !(observedMs < session.confirmed_ms + graceMs / 4))
    ) await sessions.confirm(session, relationship, observedMs).catch(() => {});
    if (client === undefined || require.length === 0) return relationship;
    await sessions.leave(sid, client.client_id).catch(notEnded);
    return undefined;
  }

  /** Returns the relationship that applies if the issuer does not respond. */
  async function lastConfirmed(
    { subject, relationship: known, confirmed_ms }: Checked,
    error: SigError,
    require: readonly string[],
    wasMet: boolean,
  ): Promise<MatchedRelationship> {
    const last = await ask(subject, {
      require,
      maxAgeMs: Infinity,
      refresh: false,
    }).catch((cause) => {
      if (!isSigError(cause)) throw cause;
      return undefined;
    });
    const isNewer = last !== undefined &&
      last.answer.last_sequence >= known.sequence;
    const [relationship, observedMs] = isNewer
      ? [last.relationship, last.observedMs]
      : [wasMet ? known : undefined, confirmed_ms];
    const confirmedMs = Math.max(observedMs, confirmed_ms);
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
     * Does the same for a person who waits for a page: after three seconds, or
     * if the issuer does not respond, the session continues for the grace
     * period.
     *
     * The relationship is then the last one that this process read or that of
     * the session, whichever is newer. After the grace period, or if that
     * relationship was denied or has ended, the result is unknown and the error
     * is thrown.
     *
     * @param question.wasMet Whether the session's relationship is known to
     * meet the client's requirements (default: true, as without requirements).
     * @throws {SigError} the error of the query; nothing ends.
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
      // Ignored if the clock was set back, which would extend the pause.
      const isQuiet = quiet !== undefined && atMs < quiet.untilMs &&
        quiet.untilMs <= atMs + QUIET_MS;
      try {
        if (isQuiet) throw quiet!.error;
        return await withinWait(recheckSession(session, { client, maxAgeMs }));
      } catch (error) {
        if (!gaveNoAnswer(error)) throw error;
        if (!isQuiet) quiet = { untilMs: now().getTime() + QUIET_MS, error };
        return await lastConfirmed(session, error, require, wasMet);
      }
    },
  };
}

function notEnded(cause: unknown): never {
  throw new SessionNotEnded(cause);
}

/**
 * Whether a relationship is newer than the known one and differs from it.
 * Another process may have read less of the feed.
 */
function isNews(
  found: MatchedRelationship,
  known: MatchedRelationship,
): boolean {
  const textOf = (each: MatchedRelationship) =>
    JSON.stringify({ ...each, sequence: 0 });
  return found.sequence > known.sequence && textOf(found) !== textOf(known);
}

/** @throws {SigError} `fetch_timeout` after {@linkcode WAIT_MS}. */
async function withinWait<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() =>
    late.reject(
      new SigError("fetch_timeout", {
        action: "ask issuer",
        reason: "it is too slow",
      }),
    ), WAIT_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
