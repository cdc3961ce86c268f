/** How often one client may ask. @module */

import { SigError } from "@sig/core";
import { clientNetwork } from "./client_network.ts";

/** So many requests in one second, and as many at once. */
export interface RateLimit {
  /** Requests per second, at least 1. */
  readonly perSecond: number;
}

/** Clients remembered; the one that asked longest ago is forgotten first. */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * Makes a token bucket a client: `perSecond` requests at once, refilled evenly.
 * Returns a function that takes one request of a client at a time of the clock.
 *
 * @example The second request within the second is refused
 * ```ts
 * import { createRateLimiter } from "./rate_limiter.ts";
 * import { SigError } from "@sig/core";
 * import { assertThrows } from "@std/assert";
 *
 * const take = createRateLimiter({ perSecond: 1 });
 * take("192.0.2.1", 0);
 * assertThrows(() => take("192.0.2.1", 100), SigError, "more than 1 request");
 * take("192.0.2.1", 1_100);
 * ```
 *
 * @throws {SigError} from the function: `rate_limited` with
 * `context.retry_after_seconds`.
 * @throws {RangeError} for a limit that is none.
 */
export function createRateLimiter(
  { perSecond }: RateLimit,
): (client: string, nowMs: number) => void {
  if (!(perSecond >= 1)) {
    throw new RangeError("Cannot limit: perSecond must be at least 1");
  }
  const buckets = new Map<string, Bucket>();
  return (address, nowMs) => {
    const client = clientNetwork(address);
    const bucket = buckets.get(client) ??
      { tokens: perSecond, filledAtMs: nowMs };
    // A clock that was set back must not lock a client out.
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    const filled = bucket.tokens + elapsedMs * perSecond / 1000;
    bucket.tokens = Math.min(perSecond, filled);
    bucket.filledAtMs = nowMs;
    // To the end of the line: the first key is the one that is oldest.
    buckets.delete(client);
    buckets.set(client, bucket);
    if (buckets.size > MAX_CLIENTS) {
      buckets.delete(buckets.keys().next().value!);
    }
    if (bucket.tokens < 1) throw rateLimited(perSecond);
    bucket.tokens--;
  };
}

function rateLimited(perSecond: number): SigError {
  return new SigError(
    "rate_limited",
    `Cannot answer: more than ${perSecond} request${
      perSecond === 1 ? "" : "s"
    } a second from this address`,
    { context: { retry_after_seconds: 1, hint: "Ask again more slowly." } },
  );
}
