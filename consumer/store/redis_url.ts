/** Reading the URL of a Redis server. @module */

import { SigError } from "@sig/core";

/** The address of a Redis server, with the credentials. */
export interface RedisAddress {
  /** Name or address, without brackets. */
  readonly hostname: string;
  /** Default: 6379. */
  readonly port: number;
  /** `rediss:`: the connection is encrypted and the certificate checked. */
  readonly tls: boolean;
  /** The number of the database (default: 0). */
  readonly database: number;
  /** For `AUTH`. */
  readonly username?: string;
  /** For `AUTH`; a secret. */
  readonly password?: string;
}

/**
 * Parses `redis[s]://[user[:password]@]host[:port][/database]`.
 *
 * @throws {SigError} `invalid_request`; no part of the text is in the error,
 * since there may be a password in it.
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
  return new SigError(
    "invalid_request",
    `Cannot use Redis URL: ${why}`,
    {
      context: {
        hint:
          "Write redis://[user:password@]host[:port][/database], or rediss://… for TLS.",
      },
    },
  );
}
