/** Backs off an issuer that can't be reached (docs/protocol.md §6.5). @module */

import { isSigError, SigError } from "@sig/core";
import { DeadlineOver, withDeadline } from "../store/waiting.ts";

/** Delays after the first, second, … failure in a row, in milliseconds. */
const DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 10_000] as const;

/** A delay is longer by up to this part of it. */
const VARIATION = 0.2;

/** How long the question that tries again waits, in milliseconds. */
const RETRY_WAIT_MS = 100;

/** Codes of an issuer that can't be reached; `graceMs` forgives only these. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  "fetch_failed",
  "fetch_status",
  "fetch_timeout",
  "key_unresolvable",
]);

/**
 * Returns whether an error means that the issuer can't be reached. Everything
 * else is something that it published, or concerns this reader.
 */
export function isUnreachable(error: unknown): error is SigError {
  return isSigError(error) && UNREACHABLE.has(error.code);
}

/** A failed attempt to reach the issuer. */
interface Failure {
  readonly error: SigError;
  /** Number of failed attempts in a row. */
  readonly failures: number;
  readonly atMs: number;
  /** When the next attempt may begin. */
  readonly untilMs: number;
}

/**
 * Delays the attempts to reach one issuer: after a failure of the category
 * `unavailable`, the next one begins 1, 2, 4, 8, then every 10 s later.
 * Questions meanwhile get the error of the failure at once. When the delay is
 * over, one question tries again and waits for at most 100 ms; then it gets the
 * error too, and the attempt continues.
 */
export class BackOff {
  readonly #now: () => Date;
  #failure: Failure | undefined;
  #isRetrying = false;

  constructor({ now }: { readonly now: () => Date }) {
    this.#now = now;
  }

  /**
   * Reaches the issuer by `work`, unless it is backed off.
   *
   * @param isUrgent Whether the question needs the issuer now: it is never
   * delayed.
   * @throws {SigError} the last error, with `retry_after_seconds`, if the issuer
   * is backed off; what `work` throws; the reason of the signal.
   */
  async ask<T>(
    work: (signal?: AbortSignal) => Promise<T>,
    isUrgent: boolean,
    signal?: AbortSignal,
  ): Promise<T> {
    const failure = this.#failure;
    if (failure === undefined || isUrgent) {
      return await this.#noting(() => work(signal));
    }
    if (this.#isRetrying || this.#delayMs(failure) > 0) {
      throw this.#backedOff(failure);
    }
    this.#isRetrying = true;
    // Not ended by the signal of this question, since it is for all of them.
    const retry = this.#noting(work).finally(() => this.#isRetrying = false);
    // A later rejection must not be unhandled.
    retry.catch(() => {});
    const over = () => this.#backedOff(failure);
    return await waitAtMost(RETRY_WAIT_MS, signal, () => retry, over);
  }

  async #noting<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#failure;
    try {
      const result = await work();
      this.#failure = undefined;
      return result;
    } catch (error) {
      this.#note(error, before);
      throw error;
    }
  }

  /** @param before The last failure when the attempt began. */
  #note(error: unknown, before: Failure | undefined): void {
    // A full queue and an aborted question say nothing about the issuer.
    if (!isSigError(error) || error.code === "overloaded") return;
    if (error.category !== "unavailable") {
      this.#failure = undefined;
      return;
    }
    // Attempts that overlapped are one.
    if (before !== this.#failure) return;
    const failures = (before?.failures ?? 0) + 1;
    const delayMs = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1]! *
      (1 + VARIATION * Math.random());
    const atMs = this.#now().getTime();
    this.#failure = { error, failures, atMs, untilMs: atMs + delayMs };
  }

  /** Returns how long the issuer is backed off; 0 if the clock was set back. */
  #delayMs({ atMs, untilMs }: Failure): number {
    const nowMs = this.#now().getTime();
    return nowMs < atMs ? 0 : Math.max(0, untilMs - nowMs);
  }

  /** Returns the error of a question while the issuer is backed off. */
  #backedOff(failure: Failure): SigError {
    const delay = Math.max(1, Math.ceil(this.#delayMs(failure) / 1000));
    const { error, error: { code, action, reason, context: known } } = failure;
    const context = { ...known, retry_after_seconds: delay };
    return new SigError(code, { action, reason, context, cause: error });
  }
}

/**
 * Waits for work until the signal aborts; the work continues.
 *
 * @throws the reason of the signal.
 */
export async function endingAt<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
): Promise<T> {
  if (signal === undefined) return await work;
  // A later rejection must not be unhandled.
  work.catch(() => {});
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Waits for the work until the limit or until the signal aborts. Both abort the
 * signal of the work.
 *
 * @param over Creates the error of a wait that is over (default:
 * `fetch_timeout`).
 * @throws what the work throws, and the reason of the signal.
 */
export async function waitAtMost<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (ended: AbortSignal) => Promise<T>,
  over: () => SigError = () => noAnswerWithin(limitMs),
): Promise<T> {
  try {
    return await withDeadline(limitMs, (late) => {
      const ended = signal ? AbortSignal.any([signal, late]) : late;
      return endingAt(signal, work(ended));
    });
  } catch (error) {
    throw error instanceof DeadlineOver ? over() : error;
  }
}

function noAnswerWithin(limitMs: number): SigError {
  return new SigError("fetch_timeout", {
    action: "ask issuer",
    reason: `there was no answer within ${limitMs} ms`,
    context: {
      limit_ms: limitMs,
      hint: "Ask again: the refresh continues, and its result is kept.",
    },
  });
}
