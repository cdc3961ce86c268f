/**
 * Opens the record store that a text describes, such as the value of `--store`.
 *
 * @module
 */

import { SigError } from "@sig/core";
import { quote, suggest } from "@sig/core/internal";
import { createMemoryStore } from "./memory_store.ts";
import {
  type RecordStore,
  type ShownStore,
  storeUnavailable,
  type Unavailable,
} from "./record_store.ts";

/** Within this time the same message is logged once. */
const QUIET_MS = 10_000;

/** Options of {@linkcode openStore}. */
export interface OpenStoreOptions {
  /** The password of a `redis:` store whose URL has none; a secret. */
  readonly password?: string | undefined;
  /**
   * For a public server: the text that replaces path or address in errors of
   * the open store, such as `of this server`.
   */
  readonly shownAs?: string | undefined;
  /**
   * With `shownAs`: receives the same errors with path or address, for the
   * operator's log.
   */
  readonly tell?: ((message: string) => void) | undefined;
}

/**
 * Opens the store that a text describes: `memory`; `kv:PATH` (Deno KV in a
 * file; needs `deno run --unstable-kv`), `kv:` (the platform's own database, as
 * on Deno Deploy); `redis://[user:password@]host[:port][/database]`,
 * `rediss://…` for TLS. A driver is loaded only when it is used.
 *
 * @example
 * ```ts
 * import { openStore } from "@sig/consumer/store";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * const store = await openStore("memory");
 * await store.close();
 *
 * await assertRejects(() => openStore("memroy"), SigError, "it must be memory");
 * ```
 *
 * @throws {SigError} `invalid_request` for a text that does not name a store;
 * `store_unavailable` when it can't be opened. Neither shows the credentials of
 * a URL.
 */
export async function openStore(
  text: string,
  options: OpenStoreOptions = {},
): Promise<RecordStore> {
  const [scheme = "", path] = text.split(/:(.*)/s);
  const driver = Object.hasOwn(DRIVERS, scheme) ? DRIVERS[scheme] : undefined;
  if (!driver || (path === undefined) !== (driver.form === scheme)) {
    throw unknownStore(text, `it must be ${storeForms("memory")}`);
  }
  return await driver.open(text, path ?? "", options);
}

/** Opens a store by its text and the part of it after the scheme. */
type OpenDriver = (
  text: string,
  path: string,
  options: OpenStoreOptions,
) => Promise<RecordStore>;

/** The drivers by scheme, with the form of the texts that name their stores. */
const DRIVERS: {
  readonly [scheme: string]: {
    readonly form: string;
    readonly open: OpenDriver;
  };
} = {
  memory: {
    form: "memory",
    open: () => Promise.resolve(createMemoryStore()),
  },
  kv: { form: "kv:PATH", open: openKv },
  redis: { form: "redis://HOST", open: openRedis },
  rediss: { form: "rediss://HOST", open: openRedis },
};

/** Returns whether a text begins with the scheme of a driver and a colon. */
export function hasStoreScheme(text: string): boolean {
  return Object.hasOwn(DRIVERS, text.slice(0, Math.max(0, text.indexOf(":"))));
}

/** Lists the forms of texts that name a store; the first one is given. */
export function storeForms(first: string): string {
  const forms = [first, ...Object.values(DRIVERS).slice(1).map((d) => d.form)];
  return `${forms.slice(0, -1).join(", ")} or ${forms.at(-1)}`;
}

async function openKv(
  text: string,
  path: string,
  options: OpenStoreOptions,
): Promise<RecordStore> {
  if (path.includes("://")) {
    throw unknownStore("", "remote KV databases are not supported");
  }
  const { openKvStore } = await import("./kv_records.ts");
  const shown = new ShownPlace(text, options);
  return shown.opened(await openKvStore(path || undefined, shown));
}

async function openRedis(
  text: string,
  _path: string,
  options: OpenStoreOptions,
): Promise<RecordStore> {
  const { parseRedisUrl } = await import("./redis_connection.ts");
  const { openRedisStore, placeOf } = await import("./redis_records.ts");
  const { password } = options;
  const address = {
    ...parseRedisUrl(text),
    ...(password === undefined ? {} : { password }),
  };
  const shown = new ShownPlace(placeOf(address), options);
  return shown.opened(await openRedisStore(address, shown));
}

/** The place of a store, as shown to clients and to the operator. */
export class ShownPlace implements ShownStore {
  readonly place: string;
  readonly unavailable: Unavailable;
  #isOpen = false;
  #lastLogged = { message: "", atMs: -Infinity };

  constructor(place: string, { shownAs, tell }: OpenStoreOptions) {
    this.place = shownAs ?? place;
    this.unavailable = (why, cause, hint) => {
      const error = storeUnavailable(place, why, cause, hint);
      // The operator, who starts the server, needs to see the path or address.
      if (shownAs === undefined || !this.#isOpen) return error;
      this.#tell(error.message, tell);
      return storeUnavailable(shownAs, why, cause, hint);
    };
  }

  opened<T extends RecordStore>(store: T): T {
    this.#isOpen = true;
    return store;
  }

  #tell(message: string, tell: OpenStoreOptions["tell"]): void {
    const nowMs = performance.now();
    const last = this.#lastLogged;
    if (last.message === message && nowMs - last.atMs < QUIET_MS) return;
    this.#lastLogged = { message, atMs: nowMs };
    tell?.(message);
  }
}

/**
 * Makes the error of an unknown store. Shows only a plain word: a mistyped URL
 * may contain a password.
 */
function unknownStore(text: string, why: string): SigError {
  const isWord = /^[a-z]{1,20}$/i.test(text);
  const near = isWord ? suggest(text, Object.keys(DRIVERS)) : undefined;
  return new SigError("invalid_request", {
    action: `use store${isWord ? ` ${quote(text)}` : ""}`,
    reason: why,
    context: {
      hint: near === undefined
        ? `Choose ${storeForms("memory")}.`
        : `Did you mean ${DRIVERS[near]!.form}?`,
    },
  });
}
