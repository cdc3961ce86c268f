/** From the text of `--pins` to a store (INTERFACES §2c). @module */

import { SigError } from "@sig/core";
import type { PinStore } from "./pin_store.ts";

/** Options of {@linkcode openPinStore}. */
export interface OpenPinStoreOptions {
  /** The password of a `redis:` store whose URL has none; a secret. */
  readonly password?: string | undefined;
}

/**
 * Opens the memory that a text names: the path of a file (SQLite), `kv:PATH`
 * (Deno KV in a file), `kv:` (the platform's own database, as on Deno Deploy),
 * `redis://[user:password@]host[:port][/database]`, or `rediss://…` for TLS. A
 * driver is loaded only when it is named.
 *
 * @throws {SigError} `invalid_request` for a text that names no store;
 * `store_unavailable` when it can't be opened. Neither shows a URL's
 * credentials.
 */
export async function openPinStore(
  text: string,
  { password }: OpenPinStoreOptions = {},
): Promise<PinStore> {
  if (/^rediss?:/.test(text)) {
    const { parseRedisUrl } = await import("../store/redis_url.ts");
    const address = parseRedisUrl(text);
    const { openRedisPinStore } = await import("./redis_pin_store.ts");
    return await openRedisPinStore(
      password === undefined ? address : { ...address, password },
    );
  }
  // Not shown: a mistyped URL may hold a password.
  if (text === "" || /:\/\/|^rediss?\/\//i.test(text)) {
    throw new SigError(
      "invalid_request",
      "Cannot open memory: it must be a file, kv:PATH, redis://HOST or rediss://HOST",
    );
  }
  if (text.startsWith("kv:")) {
    const { openKvPinStore } = await import("./kv_pin_store.ts");
    return await openKvPinStore(text.slice("kv:".length) || undefined);
  }
  const { openSqlitePinStore } = await import("./sqlite_pin_store.ts");
  return await openSqlitePinStore(text);
}
