/**
 * Which rows a state has: without it a row that was lost is one that never was,
 * and a person of whom nothing is known is denied.
 *
 * Rows of relationships and of subjects are listed by digests of their keys, in
 * buckets of about {@linkcode BUCKET_KEYS}. There are as many buckets as that
 * needs, and each of them is a row: so one that is missing is noticed as well.
 * Where keys are added buckets are split one by one (linear hashing): a feed
 * that grows by a little changes a few of them, however long it is.
 *
 * It is against accidents: files that were restored in part, tables that were
 * tidied by hand. Whoever can write all of a store can write this, too.
 *
 * @module
 */

import { inGroups } from "./in_groups.ts";
import {
  damaged,
  type PinRow,
  type PinStore,
  type StateRef,
} from "./pin_store.ts";
import {
  createDigests,
  createPackedDigests,
  DIGEST_LENGTH,
  hashOf,
  holdsDigest,
  type PackedDigest,
  unpackDigest,
} from "./row_digests.ts";
import { RELATIONSHIP_PREFIX, SUBJECT_PREFIX } from "./row_keys.ts";

/** How much is listed; kept beside the pin, so that the listing is whole. */
export interface ListedRows {
  /** Keys in all. */
  readonly keys: number;
  /** Of these, relationships. */
  readonly relationships: number;
}

/** Rows that may be listed. */
export interface ListedState {
  /** Where they are. */
  readonly store: PinStore;
  /** Whose. */
  readonly ref: StateRef;
  /** What is listed; undefined for rows from before there were listings. */
  readonly listed: ListedRows | undefined;
}

/** Before the key of every bucket. */
const BUCKET_PREFIX = "x";

/** Keys of one bucket, on the average. */
const BUCKET_KEYS = 32;

/** Buckets for so many keys. */
function bucketsFor(keys: number): number {
  return Math.max(1, Math.ceil(keys / BUCKET_KEYS));
}

/** The bucket, of so many, that a digest is in. */
function bucketOf(digest: string, buckets: number): number {
  return bucketOfHash(hashOf(digest), buckets);
}

function bucketOfHash(hash: number, buckets: number): number {
  let span = 1;
  while (span < buckets) span *= 2;
  const bucket = hash % span;
  return bucket < buckets ? bucket : bucket - span / 2;
}

function rowKeyOf(bucket: number): string {
  return BUCKET_PREFIX + bucket.toString(16).padStart(8, "0");
}

function isListed(key: string): boolean {
  return key.startsWith(RELATIONSHIP_PREFIX) || key.startsWith(SUBJECT_PREFIX);
}

/** Keys whose digests lie in one piece; pieces are never copied. */
const PIECE_KEYS = 8_192;

/** Lists the rows of a state that is written anew, in 8 bytes each. */
export class RowDirectory {
  readonly #digestOf: (key: string) => PackedDigest;
  readonly #pieces: Uint32Array[] = [];
  #keys = 0;
  #relationships = 0;

  /** Of the state with that name. */
  constructor(state: string) {
    this.#digestOf = createPackedDigests(state);
  }

  /** Takes a key that was not taken before. */
  add(key: string): void {
    if (!isListed(key)) return;
    const at = this.#keys++ % PIECE_KEYS;
    if (at === 0) this.#pieces.push(new Uint32Array(2 * PIECE_KEYS));
    this.#pieces.at(-1)!.set(this.#digestOf(key), 2 * at);
    if (key.startsWith(RELATIONSHIP_PREFIX)) this.#relationships++;
  }

  /** How much is listed. */
  get listed(): ListedRows {
    return { keys: this.#keys, relationships: this.#relationships };
  }

  /** The rows of the listing; in each in the order of the taking. */
  *rows(): Generator<PinRow> {
    const count = bucketsFor(this.#keys);
    const bucketAt = (key: number) => bucketOfHash(this.#at(key)[0], count);
    let i = 0;
    for (const keys of inGroups(this.#keys, count, bucketAt)) {
      let bucket = "";
      for (const key of keys) bucket += unpackDigest(this.#at(key));
      yield [rowKeyOf(i++), bucket];
    }
  }

  #at(key: number): PackedDigest {
    const piece = this.#pieces[Math.floor(key / PIECE_KEYS)]!;
    const at = 2 * (key % PIECE_KEYS);
    return [piece[at]!, piece[at + 1]!];
  }
}

/**
 * What rows that are about to be written change in the listing.
 *
 * @throws {SigError} `store_unavailable` where a part of it is lost;
 * {@linkcode StateMoved}.
 */
export async function growListing(
  state: ListedState,
  rows: readonly PinRow[],
): Promise<{
  readonly rows: readonly PinRow[];
  readonly listed: ListedRows | undefined;
}> {
  const { listed } = state;
  if (listed === undefined) return { rows: [], listed };
  const digestOf = createDigests(state.ref.state);
  const before = bucketsFor(listed.keys);
  const keys = rows.map(([key]) => key).filter(isListed);
  const buckets = new Map<number, string>();
  const load = async (wanted: Iterable<number>) => {
    const unread = [...new Set(wanted)].filter((each) => !buckets.has(each));
    if (unread.length === 0) return;
    for (const [i, text] of (await readBuckets(state, unread)).entries()) {
      buckets.set(unread[i]!, text);
    }
  };
  const digests = keys.map((key) => ({ key, digest: digestOf(key) }));
  await load(digests.map(({ digest }) => bucketOf(digest, before)));
  const changed = new Set<number>();
  let { keys: size, relationships } = listed;
  for (const { key, digest } of digests) {
    const bucket = bucketOf(digest, before);
    const text = buckets.get(bucket)!;
    if (holdsDigest(text, digest)) continue;
    buckets.set(bucket, text + digest);
    changed.add(bucket);
    size++;
    if (key.startsWith(RELATIONSHIP_PREFIX)) relationships++;
  }
  for (let added = before; added < bucketsFor(size); added++) {
    const source = sourceOf(added);
    await load([source]);
    const [stay, go] = split(buckets.get(source)!, added);
    buckets.set(source, stay).set(added, go);
    changed.add(source).add(added);
  }
  return {
    rows: [...changed].map((each) => [rowKeyOf(each), buckets.get(each)!]),
    listed: { keys: size, relationships },
  };
}

/** The bucket whose keys are shared with one that is added behind the last. */
function sourceOf(added: number): number {
  let half = 1;
  while (2 * half <= added) half *= 2;
  return added - half;
}

function split(bucket: string, added: number): readonly [string, string] {
  let stay = "";
  let go = "";
  for (let at = 0; at < bucket.length; at += DIGEST_LENGTH) {
    const digest = bucket.slice(at, at + DIGEST_LENGTH);
    if (bucketOf(digest, added + 1) === added) go += digest;
    else stay += digest;
  }
  return [stay, go];
}

async function readBuckets(
  { store, ref }: ListedState,
  buckets: readonly number[],
): Promise<readonly string[]> {
  const texts = await store.rows(ref, buckets.map(rowKeyOf));
  return texts.map((text) => requireBucket(store.place, ref, text));
}

function requireBucket(
  place: string,
  { issuer }: StateRef,
  text: string | undefined,
): string {
  if (text !== undefined && text.length % DIGEST_LENGTH === 0) return text;
  throw damaged(place, `the list of the rows of ${issuer}`);
}

/**
 * Rows by their keys; undefined for one that never was. Costs one reading, and
 * where rows are not there, another one.
 *
 * @throws {SigError} `store_unavailable` for one that was lost;
 * {@linkcode StateMoved}.
 */
export async function readRows(
  state: ListedState,
  keys: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const { store, ref, listed } = state;
  const texts = await store.rows(ref, keys);
  if (listed === undefined) return texts;
  const digestOf = createDigests(ref.state);
  const missing = keys
    .map((key, at) => ({ key, at }))
    .filter(({ key, at }) => texts[at] === undefined && isListed(key))
    .map((each) => ({ ...each, digest: digestOf(each.key) }));
  const lost = await areListed(state, missing, listed);
  if (lost.length === 0) return texts;
  // Another process may have added it meanwhile, and then it is there now.
  const again = await store.rows(ref, lost.map(({ key }) => key));
  const whole = [...texts];
  for (const [i, { at }] of lost.entries()) whole[at] = again[i];
  if (again.every((text) => text !== undefined)) return whole;
  throw damaged(store.place, `the state of ${ref.issuer}`);
}

/**
 * Those that are listed, also where other processes have split buckets since
 * `listed` was read: keys that moved are behind the last bucket of then.
 */
async function areListed<T extends { readonly digest: string }>(
  { store, ref }: ListedState,
  rows: readonly T[],
  { keys }: ListedRows,
): Promise<readonly T[]> {
  const found: T[] = [];
  let open = rows.map((row) => placeOf(row, bucketsFor(keys)));
  while (open.length > 0) {
    const texts = await store.rows(
      ref,
      open.flatMap(({ bucket, next = bucket }) => [bucket, next].map(rowKeyOf)),
    );
    const moved: typeof open = [];
    for (const [i, { row, next }] of open.entries()) {
      const text = requireBucket(store.place, ref, texts[2 * i]);
      const mayMove = next !== undefined && texts[2 * i + 1] !== undefined;
      if (mayMove) moved.push(placeOf(row, next + 1));
      else if (holdsDigest(text, row.digest)) found.push(row);
    }
    open = moved;
  }
  return found;
}

/** The bucket of a row, of so many, and the one that it may move into. */
function placeOf<T extends { readonly digest: string }>(row: T, count: number) {
  const bucket = bucketOf(row.digest, count);
  const hash = hashOf(row.digest);
  let span = 1;
  while (span <= hash && hash % span < count) span *= 2;
  const next = hash % span;
  return { row, bucket, next: next < count ? undefined : next };
}
