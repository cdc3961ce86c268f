/** One connection to Redis that mends itself. @module */

import type { RedisAddress } from "./redis_address.ts";
import { retryWhileBusy } from "./retry_while_busy.ts";
import { DeadlineOver, withDeadline } from "./with_deadline.ts";

/** Calls that may wait at once, so that a dead server fills no memory. */
const MAX_WAITING_CALLS = 10_000;

/** Longest pause before the connection is tried again, in milliseconds. */
const MAX_RECONNECT_MS = 1_000;

/** Shortest time between two connections to a replica, in milliseconds. */
const REPLACE_AFTER_MS = 500;

/** How long one call may take in all, in milliseconds, unless told. */
const DEFAULT_TIMEOUT_MS = 5_000;

/** A connection that runs scripts. */
export interface RedisConnection {
  /**
   * Runs a script over keys; it answers with a list of texts.
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

/** Makes `store_unavailable` for whoever connects. */
export type Unavailable = (
  why: string,
  cause?: unknown,
  hint?: string,
) => Error;

/** Options of {@linkcode connectRedis}. */
export interface ConnectRedisOptions {
  /** How long one call may take in all, in milliseconds; 5,000 unless told. */
  readonly timeoutMs?: number | undefined;
  /** What is thrown. */
  readonly unavailable: Unavailable;
}

/**
 * Connects, logs in and chooses the database. Where a fail-over has made a
 * replica of the server that it is connected with, it connects anew: whoever
 * answers at that place now.
 *
 * @throws {SigError} `store_unavailable`.
 */
export async function connectRedis(
  address: RedisAddress,
  { timeoutMs = DEFAULT_TIMEOUT_MS, unavailable }: ConnectRedisOptions,
): Promise<RedisConnection> {
  const open = () => openClient(address, timeoutMs);
  let client = await open().catch((error) => {
    throw notConnected(address, unavailable, error);
  });
  let closed = false;
  let replaceableAt = 0;
  let replacing: Promise<void> | undefined;

  /** Once for all calls that were refused. */
  const replace = (old: typeof client) => {
    if (client !== old || closed) return;
    if (replacing !== undefined) return replacing;
    // Who answers there may stay a replica: many calls must not storm it.
    if (performance.now() < replaceableAt) return;
    replaceableAt = performance.now() + REPLACE_AFTER_MS;
    replacing = open().then((next) => {
      client = closed ? client : next;
      // What others still wait for is answered first.
      const unused = closed ? next : old;
      withDeadline(timeoutMs, () => unused.close())
        .catch(() => unused.destroy());
    }).catch(() => {}).finally(() => replacing = undefined);
    return replacing;
  };

  const evaluate = async (
    script: string,
    options: { readonly keys: string[]; readonly arguments: string[] },
    signal: AbortSignal,
    onDemoted: (error: unknown) => void,
  ) => {
    const used = client;
    try {
      return readTexts(
        await used.withAbortSignal(signal).eval(script, options),
      );
    } catch (error) {
      if (isDemoted(error)) {
        onDemoted(error);
        await replace(used);
      }
      throw error;
    }
  };
  return {
    run(script, keys, rest) {
      const options = { keys: [...keys], arguments: [...rest] };
      // What a try said: the time may be over in the pause behind it.
      let demoted: unknown;
      const tried = withDeadline(timeoutMs, (signal) =>
        retryWhileBusy(
          () => evaluate(script, options, signal, (error) => demoted = error),
          { isBusy, timeoutMs },
        ));
      return tried.catch((error) => {
        throw unavailable(
          demoted !== undefined
            ? "Redis is a replica that takes no writes"
            : error instanceof DeadlineOver
            ? "Redis does not answer in time"
            : closed
            ? "it is closed"
            : "Redis failed",
          demoted ?? error,
        );
      });
    },
    close() {
      if (!closed) client.destroy();
      closed = true;
      return Promise.resolve();
    },
  };
}

/** Opens one connection, which mends itself once it has stood. */
async function openClient(address: RedisAddress, timeoutMs: number) {
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
    return client;
  } catch (error) {
    client.destroy();
    throw error instanceof DeadlineOver ? lastError ?? error : error;
  }
}

/** The server says by these words that it did nothing yet. */
function isBusy(error: unknown): boolean {
  return isDemoted(error) || error instanceof Error &&
      /^(?:BUSY|LOADING|TRYAGAIN|MASTERDOWN)\b/.test(error.message);
}

/**
 * It has become a replica, and refused the first write of a script. Before
 * version 7 the words stand behind the name of the script.
 */
function isDemoted(error: unknown): boolean {
  return error instanceof Error &&
    /^(?:ERR .*-)?READONLY You can't write against a read only replica/
      .test(error.message);
}

function readTexts(answer: unknown): readonly string[] {
  if (
    Array.isArray(answer) && answer.every((each) => typeof each === "string")
  ) return answer;
  throw new TypeError("Cannot read answer of Redis: it is no list of texts");
}

function notConnected(
  { hostname, port }: RedisAddress,
  unavailable: Unavailable,
  error: unknown,
): Error {
  const place = `${hostname}:${port}`;
  if (error instanceof Deno.errors.NotCapable) {
    return unavailable(
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
  return unavailable(
    `no Redis at ${place} that lets us in (${reason})`,
    error,
    "Check that the server runs, the user, password and database, and with rediss:// the certificate (DENO_CERT names an authority to trust).",
  );
}
