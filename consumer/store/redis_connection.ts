/** A connection to Redis that reconnects automatically. @module */

import { SigError } from "@sig/core";
import { FORBIDDEN, type Unavailable } from "./record_store.ts";
import { DeadlineOver, retryWhileBusy, withDeadline } from "./waiting.ts";

/**
 * Maximum number of waiting calls, so that an unreachable server does not fill
 * the memory.
 */
const MAX_WAITING_CALLS = 10_000;

/** Maximum pause between attempts to connect in milliseconds. */
const MAX_RECONNECT_MS = 1_000;

/** Minimum interval between two connections to a replica in milliseconds. */
const REPLACE_AFTER_MS = 500;

/** Time limit for one call in milliseconds, retries included. */
const DEFAULT_TIMEOUT_MS = 5_000;

interface RedisConnection {
  /**
   * Runs a script over keys. Returns its list of texts.
   *
   * @throws {SigError} `store_unavailable`, also after the timeout. The script
   * may have run.
   */
  run(
    script: string,
    keys: readonly string[],
    rest: readonly string[],
  ): Promise<readonly string[]>;
  /** Closes the connection. Can be called more than once. */
  close(): Promise<void>;
}

export interface ConnectRedisOptions {
  /**
   * Time limit for one call in milliseconds, retries included (default: 5,000).
   */
  readonly timeoutMs?: number | undefined;
  readonly unavailable: Unavailable;
}

/**
 * Connects, logs in and selects the database. If the server has become a
 * replica (after a fail-over), it connects again to the same address.
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

  /** Reconnects once for all refused calls. */
  const replace = (old: typeof client) => {
    if (client !== old || closed) return;
    if (replacing !== undefined) return replacing;
    // The server may remain a replica, so the calls must not flood it.
    if (performance.now() < replaceableAt) return;
    replaceableAt = performance.now() + REPLACE_AFTER_MS;
    replacing = open().then((next) => {
      client = closed ? client : next;
      // Pending calls on the old connection are answered first.
      const unused = closed ? next : old;
      withDeadline(timeoutMs, () => unused.close())
        .catch(() => unused.destroy());
    }).catch(() => {}).finally(() => replacing = undefined);
    return replacing;
  };

  return {
    run(script, keys, rest) {
      const options = { keys: [...keys], arguments: [...rest] };
      // The last error of an attempt: the deadline may pass in the pause after
      // it.
      let demoted: unknown;
      const evaluate = async (signal: AbortSignal) => {
        const used = client;
        try {
          return readTexts(
            await used.withAbortSignal(signal).eval(script, options),
          );
        } catch (error) {
          if (isDemoted(error)) {
            demoted = error;
            await replace(used);
          }
          throw error;
        }
      };
      const tried = withDeadline(
        timeoutMs,
        (signal) =>
          retryWhileBusy(() => evaluate(signal), { isBusy, timeoutMs, signal }),
      );
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

/** The client is a peer dependency that npm does not install. */
class MissingPackage extends Error {}

/**
 * Opens one connection, which reconnects automatically after it was ready once.
 */
async function openClient(address: RedisAddress, timeoutMs: number) {
  // Loaded here, so that other stores don't load it.
  const { createClient } = await import("@redis/client").catch((error) => {
    throw new MissingPackage("@redis/client", { cause: error });
  });
  const { hostname, port, tls, database, username, password } = address;
  let lastError: unknown;
  let isReady = false;
  const client = createClient({
    socket: {
      host: hostname,
      port,
      connectTimeout: timeoutMs,
      ...(tls ? { tls: true as const } : {}),
      // The first attempt fails, for the operator to see; later ones are
      // repeated without limit.
      reconnectStrategy: (retries) =>
        isReady &&
        Math.min(2 ** Math.min(retries, 10) * 25, MAX_RECONNECT_MS) *
          (0.5 + Math.random()),
    },
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // RESP2 is enough for EVAL. The client's own extensions are not used.
    RESP: 2,
    maintNotifications: "disabled",
    disableClientInfo: true,
    commandsQueueMaxLength: MAX_WAITING_CALLS,
    // run() applies the timeout, retries included.
    commandOptions: { timeout: 0 },
  });
  // Without a listener, a lost connection would end the process.
  client.on("error", (error: unknown) => {
    lastError = error;
  });
  try {
    await withDeadline(timeoutMs, async () => {
      await client.connect();
      // Some servers refuse only here: not logged in, or no right to run
      // scripts.
      await client.eval("return {}");
    });
    isReady = true;
    return client;
  } catch (error) {
    client.destroy();
    throw error instanceof DeadlineOver ? lastError ?? error : error;
  }
}

/** Returns whether the error means that the script had no effect. */
function isBusy(error: unknown): boolean {
  return isDemoted(error) || error instanceof Error &&
      /^(?:BUSY|LOADING|TRYAGAIN|MASTERDOWN)\b/.test(error.message);
}

/**
 * Returns whether the server has become a replica and refused the first write
 * of a script. Before version 7 the name of the script precedes this text.
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
  throw new TypeError("Cannot read answer of Redis: it is not a list of texts");
}

function notConnected(
  { hostname, port }: RedisAddress,
  unavailable: Unavailable,
  error: unknown,
): SigError {
  const place = `${hostname}:${port}`;
  if (error instanceof MissingPackage) {
    return unavailable(
      `the package ${error.message} can't be loaded`,
      error,
      `Install it: npm install ${error.message}.`,
    );
  }
  if (FORBIDDEN.test(String(error))) {
    return unavailable(
      `no permission to connect to Redis at ${place}`,
      error,
      `Allow it with --allow-net=${place}.`,
    );
  }
  const { code, message = "" } = error as { code?: unknown; message?: string };
  // Only codes are shown; the rest of a server's text is not trusted.
  const reason = typeof code === "string" && /^[A-Z_]{3,40}$/.test(code)
    ? code
    : /^(?:NOAUTH|WRONGPASS|NOPERM|LOADING|DENIED)\b/.exec(message)?.[0] ??
      "no answer";
  return unavailable(
    `no Redis at ${place} accepts the connection (${reason})`,
    error,
    "Check that the server runs, the user, password and database, and with rediss:// the certificate (DENO_CERT names an authority to trust).",
  );
}

/** Address of a Redis server, with credentials. */
export interface RedisAddress {
  /** Name or IP address, without brackets. */
  readonly hostname: string;
  /** Port (default: 6379). */
  readonly port: number;
  /**
   * Whether the connection uses TLS (`rediss:`). The certificate is checked.
   */
  readonly tls: boolean;
  /** Number of the database (default: 0). */
  readonly database: number;
  /** User name for `AUTH`. */
  readonly username?: string;
  /** Password for `AUTH`; a secret. */
  readonly password?: string;
}

/**
 * Parses `redis[s]://[user[:password]@]host[:port][/database]`.
 *
 * @throws {SigError} `invalid_request`; no part of the text is in the error,
 * since it may contain a password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const url = /^rediss?:\/\//.test(text) ? URL.parse(text) : null;
  if (url === null || url.hostname === "") {
    throw malformed("it must name a host");
  }
  if (url.search !== "" || url.hash !== "") {
    throw malformed("it must not have a query or a fragment");
  }
  const database = /^(?:\/(\d{1,4})?)?$/.exec(url.pathname);
  if (database === null) {
    throw malformed("its path must be the number of a database");
  }
  const username = decode(url.username);
  const password = decode(url.password);
  return {
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    tls: url.protocol === "rediss:",
    database: Number(database[1] ?? 0),
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw malformed("user and password must be percent-encoded");
  }
}

function malformed(why: string): SigError {
  return new SigError("invalid_request", {
    action: "use Redis URL",
    reason: why,
    context: {
      hint:
        "Write redis://[user:password@]host[:port][/database], or rediss://… for TLS.",
    },
  });
}
