/** One connection to Redis that mends itself. @module */

import type { RedisAddress } from "./redis_address.ts";
import { retryWhileBusy } from "./retry_while_busy.ts";
import { storeUnavailable } from "./store_unavailable.ts";

/** Calls that may wait at once, so that a dead server fills no memory. */
const MAX_WAITING_CALLS = 10_000;

/** Longest pause before the connection is tried again, in milliseconds. */
const MAX_RECONNECT_MS = 1_000;

/** How long one call may take in all, in milliseconds, unless told. */
export const DEFAULT_TIMEOUT_MS = 5_000;

/** A connection that runs scripts. */
export interface RedisConnection {
  /**
   * Runs a script over some keys; it answers with a list of texts.
   *
   * @throws {SigError} `store_unavailable`, also when the time is over. The
   * script may have run.
   */
  run(
    script: string,
    keys: readonly string[],
    rest: readonly string[],
  ): Promise<readonly string[]>;
  /** Ends the connection. */
  close(): Promise<void>;
}

/**
 * Connects, logs in and chooses the database.
 *
 * @throws {SigError} `store_unavailable`.
 */
export async function connectRedis(
  address: RedisAddress,
  timeoutMs: number,
): Promise<RedisConnection> {
  // Loaded here, so that it costs nothing where another store is used.
  const { createClient } = await import("@redis/client");
  const { hostname, port, tls, database, username, password } = address;
  let lastError: unknown;
  let isReady = false;
  const client = createClient({
    socket: {
      host: hostname,
      port,
      connectTimeout: timeoutMs,
      ...(tls ? { tls: true as const } : {}),
      // The first attempt is the operator's to see; later ones never give up.
      reconnectStrategy: (retries) =>
        isReady &&
        Math.min(2 ** Math.min(retries, 10) * 25, MAX_RECONNECT_MS) *
          (0.5 + Math.random()),
    },
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // RESP2 needs no more than EVAL, and none of the client's own extensions.
    RESP: 2,
    maintNotifications: "disabled",
    disableClientInfo: true,
    commandsQueueMaxLength: MAX_WAITING_CALLS,
    // The time is ours to watch: it counts retries as well.
    commandOptions: { timeout: 0 },
  });
  // Without a listener a lost connection would end the process.
  client.on("error", (error: unknown) => {
    lastError = error;
  });
  try {
    await withDeadline(timeoutMs, async () => {
      await client.connect();
      // Some servers refuse us only now: no login, or no right to run scripts.
      await client.eval("return {}");
    });
    isReady = true;
  } catch (error) {
    client.destroy();
    throw notConnected(
      address,
      error instanceof DeadlineOver ? lastError ?? error : error,
    );
  }
  let closed = false;
  return {
    run: (script, keys, rest) =>
      withDeadline(timeoutMs, (abortSignal) =>
        retryWhileBusy(async () => {
          const options = { keys: [...keys], arguments: [...rest] };
          const answer: unknown = await client
            .withAbortSignal(abortSignal).eval(script, options);
          return readTexts(answer);
        }, { isBusy, timeoutMs })).catch((error) => {
          throw storeUnavailable(
            error instanceof DeadlineOver
              ? "Redis does not answer in time"
              : closed
              ? "it is closed"
              : "Redis failed",
            error,
          );
        }),
    close() {
      if (!closed) client.destroy();
      closed = true;
      return Promise.resolve();
    },
  };
}

class DeadlineOver extends Error {
  override readonly name = "DeadlineOver";
}

/** Waits no longer than that; what has not been sent by then never is. */
async function withDeadline<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new DeadlineOver());
    ending.abort();
  }, timeoutMs);
  const working = work(ending.signal);
  // Whoever comes second must not be an unhandled rejection.
  working.catch(() => {});
  try {
    return await Promise.race([working, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The server says by these words that it did nothing yet. */
function isBusy(error: unknown): boolean {
  return error instanceof Error &&
    /^(?:BUSY|LOADING|TRYAGAIN|MASTERDOWN)\b/.test(error.message);
}

function readTexts(answer: unknown): readonly string[] {
  if (
    Array.isArray(answer) && answer.every((each) => typeof each === "string")
  ) return answer;
  throw new TypeError("Cannot read answer of Redis: it is no list of texts");
}

function notConnected(
  { hostname, port }: RedisAddress,
  error: unknown,
): Error {
  const place = `${hostname}:${port}`;
  if (error instanceof Deno.errors.NotCapable) {
    return storeUnavailable(
      `Redis at ${place} must not be reached (permission denied)`,
      error,
      `Allow it with --allow-net=${place}.`,
    );
  }
  const { code, message = "" } = error as { code?: unknown; message?: string };
  // Only words that are a code; the rest of a server's text is not ours.
  const reason = typeof code === "string" && /^[A-Z_]{3,40}$/.test(code)
    ? code
    : /^(?:NOAUTH|WRONGPASS|NOPERM|LOADING|DENIED)\b/.exec(message)?.[0] ??
      "no answer";
  return storeUnavailable(
    `no Redis at ${place} that lets us in (${reason})`,
    error,
    "Check that the server runs, the user, password and database, and with rediss:// the certificate (DENO_CERT names an authority to trust).",
  );
}
