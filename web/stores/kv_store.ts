/** Challenges in Deno KV. @module */

import {
  type ChallengeEntry,
  failedEntry,
  newEntry,
  recordOf,
  stateOf,
  usedEntry,
} from "./challenge_entry.ts";
import {
  type ChallengeState,
  type ChallengeStore,
  REMEMBER_MS,
} from "./challenge_store.ts";
import { retryWhileBusy } from "@sig/consumer/connect";
import { storeUnavailable } from "./store_unavailable.ts";

/** How long a busy database is asked again, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

type Key = readonly string[];

interface Found {
  readonly value: ChallengeEntry | null;
  readonly versionstamp: string | null;
}

/** As much of Deno KV as is used: its own types need an unstable flag. */
interface Kv {
  get(key: Key): Promise<Found>;
  atomic(): KvTransaction;
  close(): void;
}

interface KvTransaction {
  check(found: { key: Key; versionstamp: string | null }): KvTransaction;
  set(
    key: Key,
    value: ChallengeEntry,
    options: { expireIn: number },
  ): KvTransaction;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** Somebody else changed the challenge between our look and our write. */
class Conflict extends Error {
  override readonly name = "Conflict";
}

/**
 * Keeps challenges in Deno KV: a file that the processes of one machine share,
 * or Deno Deploy's database (no path). Changes are checked against the version
 * that was read, so that of any number of processes one uses a challenge.
 *
 * Deno offers KV only to programs started with `--unstable-kv`; a file needs
 * `--allow-read` and `--allow-write` for it, too. `expireIn` is only a sweep
 * there: what counts is the stored instant.
 *
 * @param path the database's file; undefined for the platform's own database.
 * @throws {SigError} `store_unavailable`, with what to do.
 */
export async function openKvStore(path?: string): Promise<ChallengeStore> {
  const kv = await openKv(path);
  // A file has one writer at a time; asking with hundreds of transactions at
  // once would only starve other processes. A served database has many.
  const turn = path === undefined ? <T>(work: () => T) => work() : oneAtATime();
  const guard = <T>(work: () => Promise<T>) => untilDone(() => turn(work));
  let closed = false;
  return {
    create: (record, at) =>
      guard(async () => {
        const entry = newEntry(record);
        const none = { value: null, versionstamp: null };
        if (await write(kv, record.challenge_id, none, entry, at)) return;
        throw new RangeError("Cannot create challenge: its id is taken");
      }),
    read: (id, at) =>
      guard(async () => {
        const { value } = await kv.get(keyOf(id));
        const state = stateOf(value ?? undefined, at);
        if (state !== "issued") return { state };
        return { state, record: recordOf(value!.text) };
      }),
    countFailure: (id, at) =>
      guard(async () => {
        const { before, after } = await change(kv, id, at, failedEntry);
        return before === "issued" ? stateOf(after, at) : before;
      }),
    consume: (id, at) =>
      guard(async () => {
        const { before } = await change(kv, id, at, usedEntry);
        return before === "issued" ? "consumed" : before;
      }),
    close() {
      if (!closed) kv.close();
      closed = true;
      return Promise.resolve();
    },
  };
}

function keyOf(id: string): Key {
  return ["sig", "challenge", id];
}

/** Changes an open challenge; any other stays as it is. */
async function change(
  kv: Kv,
  id: string,
  at: Date,
  next: (entry: ChallengeEntry) => ChallengeEntry,
): Promise<
  { readonly before: ChallengeState; readonly after?: ChallengeEntry }
> {
  const found = await kv.get(keyOf(id));
  const before = stateOf(found.value ?? undefined, at);
  if (before !== "issued") return { before };
  const after = next(found.value!);
  if (await write(kv, id, found, after, at)) return { before, after };
  throw new Conflict();
}

/** Whether the entry was written; not when it has another version by now. */
async function write(
  kv: Kv,
  id: string,
  { versionstamp }: Found,
  entry: ChallengeEntry,
  at: Date,
): Promise<boolean> {
  const key = keyOf(id);
  const expireIn = Math.max(
    entry.expiresAtMs + REMEMBER_MS - at.getTime(),
    1_000,
  );
  const { ok } = await kv.atomic().check({ key, versionstamp })
    .set(key, entry, { expireIn }).commit();
  return ok;
}

/** Lets pieces of work through in the order in which they came. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await retryWhileBusy(work, { isBusy, timeoutMs: BUSY_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw storeUnavailable("Deno KV failed", error);
  }
}

/** SQLite gives way at once where two processes write: nothing was written. */
function isBusy(error: unknown): boolean {
  return error instanceof Conflict ||
    error instanceof Error && /database (table )?is locked/.test(error.message);
}

async function openKv(path: string | undefined): Promise<Kv> {
  const { openKv } = Deno as unknown as {
    readonly openKv?: (path?: string) => Promise<Kv>;
  };
  if (openKv === undefined) {
    throw storeUnavailable(
      "this Deno offers no KV",
      undefined,
      "Start it with deno run --unstable-kv …, or choose another store.",
    );
  }
  try {
    return await retryWhileBusy(() => openKv(path), {
      isBusy,
      timeoutMs: BUSY_TIMEOUT_MS,
    });
  } catch (error) {
    const isDenied = error instanceof Deno.errors.NotCapable;
    throw storeUnavailable(
      isDenied
        ? "the KV file must not be used (permission denied)"
        : "the KV database can't be opened",
      error,
      isDenied
        ? "Allow the file with --allow-read and --allow-write."
        : "Its folder must exist, be writable, and the file be a KV database.",
    );
  }
}
