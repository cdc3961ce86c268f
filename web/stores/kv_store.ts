/** Challenges in Deno KV. @module */

import type { Kv, KvFound, KvKey } from "@sig/consumer/connect";
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
import { Conflict, type KvDatabase, openKvDatabase } from "./kv_database.ts";

type Found = Pick<KvFound<ChallengeEntry>, "versionstamp">;

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
  return keepChallengesInKv(await openKvDatabase(path));
}

/** The same over a database that is open; closing the store closes it. */
export function keepChallengesInKv(database: KvDatabase): ChallengeStore {
  return {
    create: (record, at) =>
      database.run(async (kv) => {
        const entry = newEntry(record);
        const none = { versionstamp: null };
        if (await write(kv, record.challenge_id, none, entry, at)) return;
        throw new RangeError("Cannot create challenge: its id is taken");
      }),
    read: (id, at) =>
      database.run(async (kv) => {
        const { value } = await kv.get<ChallengeEntry>(keyOf(id));
        const state = stateOf(value ?? undefined, at);
        if (state !== "issued") return { state };
        return { state, record: recordOf(value!.text) };
      }),
    countFailure: (id, at) =>
      database.run(async (kv) => {
        const { before, after } = await change(kv, id, at, failedEntry);
        return before === "issued" ? stateOf(after, at) : before;
      }),
    consume: (id, at) =>
      database.run(async (kv) => {
        const { before } = await change(kv, id, at, usedEntry);
        return before === "issued" ? "consumed" : before;
      }),
    close: () => database.close(),
  };
}

function keyOf(id: string): KvKey {
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
  const found = await kv.get<ChallengeEntry>(keyOf(id));
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
