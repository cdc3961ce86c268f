/** From the text of `--store` to a store (INTERFACES §4). @module */

import { quote, SigError } from "@sig/core";
import { suggest } from "@sig/api/flags";
import type { ChallengeStore } from "./challenge_store.ts";
import { createMemoryStore } from "./memory_store.ts";

const FORMS = "memory, kv:PATH, redis://HOST or rediss://HOST";

/** Options of {@linkcode openStore}. */
export interface OpenStoreOptions {
  /** The password of a `redis:` store whose URL has none; a secret. */
  readonly password?: string | undefined;
}

/**
 * Opens the store that a text names: `memory`; `kv:PATH` (Deno KV in a file;
 * needs `deno run --unstable-kv`), `kv:` (the platform's own database, as on
 * Deno Deploy); `redis://[user:password@]host[:port][/database]`, `rediss://…`
 * for TLS. A driver is loaded only when it is named.
 *
 * @example
 * ```ts
 * import { openStore } from "./open_store.ts";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * const store = await openStore("memory");
 * await store.close();
 *
 * await assertRejects(() => openStore("memroy"), SigError, "it must be memory");
 * ```
 *
 * @throws {SigError} `invalid_request` for a text that names no store;
 * `store_unavailable` when it can't be opened. Neither shows a URL's
 * credentials.
 */
export async function openStore(
  text: string,
  { password }: OpenStoreOptions = {},
): Promise<ChallengeStore> {
  if (text === "memory") return createMemoryStore();
  if (text.startsWith("kv:")) {
    const path = text.slice("kv:".length);
    if (path.includes("://")) {
      throw unknownStore("", "remote KV databases are not supported");
    }
    const { openKvStore } = await import("./kv_store.ts");
    return await openKvStore(path === "" ? undefined : path);
  }
  if (/^rediss?:/.test(text)) {
    const { parseRedisUrl } = await import("@sig/consumer/connect");
    const address = parseRedisUrl(text);
    const { openRedisStore } = await import("./redis_store.ts");
    return await openRedisStore(
      password === undefined ? address : { ...address, password },
    );
  }
  throw unknownStore(text, `it must be ${FORMS}`);
}

/** Shows only a plain word: a mistyped URL may hold a password. */
function unknownStore(text: string, why: string): SigError {
  const isWord = /^[a-z]{1,20}$/i.test(text);
  const near = isWord ? suggest(text, ["memory", "kv", "redis"]) : undefined;
  return new SigError(
    "invalid_request",
    `Cannot use store${isWord ? ` ${quote(text)}` : ""}: ${why}`,
    {
      context: {
        hint: near === undefined
          ? `Choose ${FORMS}.`
          : `Did you mean ${near === "memory" ? near : `${near}:…`}?`,
      },
    },
  );
}
