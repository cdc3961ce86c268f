/**
 * A memory in Deno KV: a file, or Deno Deploy's database. Long because values
 * are cut here into the 64 KiB that it takes, and that has no meaning elsewhere.
 *
 * @module
 */

import { joinBytes } from "@sig/core";
import {
  isKvBusy,
  type Kv,
  type KvKey,
  openKv,
} from "../store/kv_connection.ts";
import { DeadlineOver, withDeadline } from "../store/waiting.ts";
import { retryWhileBusy } from "../store/waiting.ts";
import {
  damaged,
  type PinEntry,
  type PinRow,
  type PinStore,
  pinStoreUnavailable,
  RowsTooLarge,
  StateMoved,
  stateName,
  type StateRef,
} from "./pin_store.ts";

/** How long one call may take, in milliseconds. */
const TIMEOUT_MS = 5_000;

/** Bytes of a part: a value may have 64 KiB, with what it is packed in. */
const PART_BYTES = 60_000;

/** Of one transaction: it may have 1,000 changes, 800 KiB, and 80 KiB of keys. */
const MAX_CHANGES = 900;
const MAX_CHANGE_BYTES = 700_000;
const MAX_KEY_BYTES = 75_000;

/** Keys of one transaction that only deletes: none is longer than 300 bytes. */
const MAX_DELETIONS = 250;

/** Keys that are got at once. */
const GOT_AT_ONCE = 10;

/** Such gets under way at once: a database may be far away. */
const GETS_AT_ONCE = 10;

/** Staged rows that are got within one call's time. */
const STAGED_AT_ONCE = 500;

/** A part of a text; the first says how many there are. */
interface Part {
  /** Those of one text have one. */
  readonly tag: string;
  readonly parts: number;
  readonly bytes: Uint8Array;
}

interface Change {
  readonly key: KvKey;
  readonly value: Part;
}

/** The entry, but for its body. */
interface StoredEntry {
  readonly revision: number;
  readonly state: string;
}

const ENTRY: KvKey = ["sig", "pins", "entry"];
const BODY: KvKey = ["sig", "pins", "body"];
const ROW: KvKey = ["sig", "row"];
const STAGED: KvKey = ["sig", "pins", "staged"];

/**
 * Opens the memory in Deno KV, which Deno offers to programs that were started
 * with `--unstable-kv`; a file needs `--allow-read` and `--allow-write`, too.
 *
 * @param path the database's file; undefined for the platform's own database.
 * @throws {SigError} `store_unavailable`, with what to do.
 */
export async function openKvPinStore(path?: string): Promise<PinStore> {
  const place = `kv:${path ?? ""}`;
  const kv = await openKv(path || undefined, {
    timeoutMs: TIMEOUT_MS,
    unavailable: (why, cause, hint) =>
      pinStoreUnavailable(place, why, {
        cause,
        ...(hint === undefined ? {} : { hint }),
        ...(cause instanceof Deno.errors.NotCapable
          ? { reason: "permission" }
          : {}),
      }),
  });
  return new KvPinStore(place, kv);
}

class KvPinStore implements PinStore {
  readonly place: string;
  readonly #kv: Kv;
  /** The mark of each state of which this process has staged rows. */
  readonly #staged = new Map<string, string>();

  constructor(place: string, kv: Kv) {
    this.place = place;
    this.#kv = kv;
  }

  get(issuer: string): Promise<PinEntry | undefined> {
    return this.#answer(async () => {
      for (;;) {
        const { value } = await this.#kv.get<StoredEntry>([...ENTRY, issuer]);
        if (value === null) return undefined;
        const body = await this.#text([...BODY, issuer, value.revision]);
        if (body !== undefined) return { issuer, ...value, body };
        // Another process has written meanwhile, or somebody has damaged it.
        const again = await this.#kv.get<StoredEntry>([...ENTRY, issuer]);
        if (again.value?.revision === value.revision) {
          throw damaged(this.place, `the pin of ${issuer}`);
        }
      }
    });
  }

  async list(): Promise<readonly PinEntry[]> {
    const issuers = await this.#answer(async () => {
      const found: string[] = [];
      for await (const { key } of this.#kv.list({ prefix: ENTRY })) {
        found.push(String(key.at(-1)));
      }
      return found.sort();
    });
    const entries: PinEntry[] = [];
    for (const issuer of issuers) {
      const entry = await this.get(issuer);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  rows(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    return this.#answer(async () => {
      const texts = await this.#find(ref, keys);
      await this.#requireCurrent(ref);
      return texts;
    });
  }

  async *all(ref: StateRef, prefix: string): AsyncGenerator<PinRow> {
    const base = [...ROW, ref.state];
    const rows = this.#kv.list<Part>({
      start: [...base, prefix],
      end: [...base, `${prefix}\u{10ffff}`],
    })[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#answer(() => rows.next());
      if (next.done) break;
      const { key, value } = next.value;
      if (key.at(-1) !== 0) continue;
      const text = await this.#answer(() =>
        this.#rest(key.slice(0, -1), value)
      );
      if (text !== undefined) yield [String(key.at(-2)), text];
    }
    // What was got before is whole if the state is still the issuer's.
    await this.#answer(() => this.#requireCurrent(ref));
  }

  async stage(ref: StateRef, rows: readonly PinRow[]): Promise<void> {
    const { issuer, state } = ref;
    const name = stateName(ref);
    const key = [...STAGED, issuer, state];
    let versionstamp = this.#staged.get(name);
    if (versionstamp === undefined) {
      const marked = await this.#answer(() =>
        this.#kv.atomic().set(key, true).commit()
      );
      if (!marked.ok) throw new StateMoved();
      versionstamp = marked.versionstamp;
      this.#staged.set(name, versionstamp);
    }
    const changes = rows
      .flatMap(([key, text]) => partsOf(rowKey(ref, key), text));
    if (await this.#change(changes, { key, versionstamp })) return;
    this.#staged.delete(name);
    throw new StateMoved();
  }

  async staged(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const texts: (string | undefined)[] = [];
    // Each call within its own time: a first look asks for thousands.
    for (let at = 0; at < keys.length; at += STAGED_AT_ONCE) {
      const part = keys.slice(at, at + STAGED_AT_ONCE);
      texts.push(...await this.#answer(() => this.#find(ref, part)));
    }
    return texts;
  }

  async unstage(ref: StateRef): Promise<void> {
    const { issuer, state } = ref;
    const { value } = await this.#answer(() =>
      this.#kv.get<StoredEntry>([...ENTRY, issuer])
    );
    if (value?.state === state) return;
    await this.#forget(ref);
    this.#staged.delete(stateName(ref));
  }

  async put(
    entry: PinEntry,
    rows: readonly PinRow[] = [],
    over?: string,
  ): Promise<boolean> {
    const { issuer, revision, state, body } = entry;
    const key = [...ENTRY, issuer];
    const changes = [
      ...partsOf([...BODY, issuer, revision], body),
      ...rows.flatMap(([row, text]) => partsOf(rowKey(entry, row), text)),
    ];
    const room = new Room();
    if (!changes.every((each) => room.take(each))) throw new RowsTooLarge();
    // All that is staged before the entry is written is dead afterwards.
    const before = await this.#answer(() => this.#kv.get<StoredEntry>(key));
    const isMove = before.value?.state !== state;
    const dead = isMove ? await this.#statesOf(issuer) : [];
    const { versionstamp } = before;
    if ((before.value?.revision ?? 0) + 1 !== revision) return false;
    if ((over ?? before.value?.state) !== before.value?.state) return false;
    const oldBody = [...BODY, issuer, revision - 1];
    const staged = this.#staged.get(stateName(entry));
    const ok = await this.#answer(async () => {
      const old = await this.#kv.get<Part>([...oldBody, 0]);
      const write = this.#kv.atomic().check({ key, versionstamp })
        .set(key, { revision, state })
        .set([...STAGED, issuer, state], true);
      if (staged !== undefined) {
        const key = [...STAGED, issuer, state];
        write.check({ key, versionstamp: staged });
      }
      for (let i = 0; i < (old.value?.parts ?? 0); i++) {
        write.delete([...oldBody, i]);
      }
      for (const { key, value } of changes) write.set(key, value);
      return (await write.commit()).ok;
    });
    if (!ok) return false;
    this.#staged.delete(stateName(entry));
    for (const each of dead) {
      if (each !== state) await this.#forget({ issuer, state: each });
    }
    return true;
  }

  async remove(issuer: string): Promise<boolean> {
    const states = await this.#statesOf(issuer);
    // First of all: else a state could be put whose rows go right after.
    for (const state of states) await this.#doom({ issuer, state });
    const key = [...ENTRY, issuer];
    const wasThere = await this.#answer(async () => {
      const { value } = await this.#kv.get<StoredEntry>(key);
      await this.#kv.atomic().delete(key).commit();
      return value !== null;
    });
    await this.#deleteAll([...BODY, issuer]);
    for (const state of states) await this.#forget({ issuer, state });
    return wasThere;
  }

  close(): Promise<void> {
    this.#kv.close();
    return Promise.resolve();
  }

  async #find(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const texts: (string | undefined)[] = [];
    for (let at = 0; at < keys.length; at += GETS_AT_ONCE * GOT_AT_ONCE) {
      const parts = Array.from({ length: GETS_AT_ONCE }, (_, i) => {
        const from = at + i * GOT_AT_ONCE;
        return this.#findSome(ref, keys.slice(from, from + GOT_AT_ONCE));
      });
      texts.push(...(await Promise.all(parts)).flat());
    }
    return texts;
  }

  async #findSome(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    if (keys.length === 0) return [];
    const places = keys.map((key) => rowKey(ref, key));
    const firsts = await this.#kv.getMany<Part>(
      places.map((place) => [...place, 0]),
    );
    const texts: (string | undefined)[] = [];
    for (const [i, { value }] of firsts.entries()) {
      texts.push(await this.#rest(places[i]!, value));
    }
    return texts;
  }

  /** A text by the place of its parts; undefined when it is not there. */
  async #text(place: KvKey): Promise<string | undefined> {
    const first = await this.#kv.get<Part>([...place, 0]);
    return await this.#rest(place, first.value);
  }

  async #rest(place: KvKey, first: Part | null): Promise<string | undefined> {
    if (first === null) return undefined;
    const chunks = [first.bytes];
    for (let i = 1; i < first.parts; i++) {
      const { value } = await this.#kv.get<Part>([...place, i]);
      // Written anew meanwhile: from the start.
      if (value?.tag !== first.tag) return await this.#text(place);
      chunks.push(value.bytes);
    }
    const length = chunks.reduce((sum, each) => sum + each.length, 0);
    return new TextDecoder().decode(joinBytes(chunks, length));
  }

  async #requireCurrent({ issuer, state }: StateRef): Promise<void> {
    const { value } = await this.#kv.get<StoredEntry>([...ENTRY, issuer]);
    if (value?.state !== state) throw new StateMoved();
  }

  #statesOf(issuer: string): Promise<readonly string[]> {
    return this.#answer(async () => {
      const found: string[] = [];
      for await (
        const { key } of this.#kv.list({ prefix: [...STAGED, issuer] })
      ) {
        found.push(String(key.at(-1)));
      }
      return found;
    });
  }

  /** Lets nobody who stages a state go on with it. */
  async #doom({ issuer, state }: StateRef): Promise<void> {
    await this.#answer(() =>
      this.#kv.atomic().set([...STAGED, issuer, state], false).commit()
    );
  }

  async #forget({ issuer, state }: StateRef): Promise<void> {
    await this.#doom({ issuer, state });
    await this.#deleteAll([...ROW, state]);
    await this.#answer(() =>
      this.#kv.atomic().delete([...STAGED, issuer, state]).commit()
    );
  }

  async #deleteAll(prefix: KvKey): Promise<void> {
    let keys: KvKey[] = [];
    const flush = () =>
      this.#answer(async () => {
        const gone = this.#kv.atomic();
        for (const key of keys) gone.delete(key);
        await gone.commit();
        keys = [];
      });
    for await (const { key } of this.#kv.list({ prefix })) {
      if (keys.push(key) >= MAX_DELETIONS) await flush();
    }
    if (keys.length > 0) await flush();
  }

  /**
   * Writes in as many transactions as it takes, while the mark is as it was.
   * Returns whether it was.
   */
  async #change(
    changes: readonly Change[],
    mark: { readonly key: KvKey; readonly versionstamp: string },
  ): Promise<boolean> {
    for (let at = 0; at < changes.length;) {
      const from = at;
      const room = new Room();
      while (at < changes.length && (room.take(changes[at]!) || at === from)) {
        at++;
      }
      const isWritten = await this.#answer(async () => {
        const write = this.#kv.atomic().check(mark);
        for (const { key, value } of changes.slice(from, at)) {
          write.set(key, value);
        }
        return (await write.commit()).ok;
      });
      if (!isWritten) return false;
    }
    return true;
  }

  async #answer<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await withDeadline(
        TIMEOUT_MS,
        () => retryWhileBusy(work, { isBusy: isKvBusy, timeoutMs: TIMEOUT_MS }),
      );
    } catch (error) {
      throw unusable(this.place, error);
    }
  }
}

/** Short, since keys are what fills a transaction; states have unique names. */
function rowKey({ state }: StateRef, key: string): KvKey {
  return [...ROW, state, key];
}

function partsOf(
  place: KvKey,
  text: string,
): readonly Change[] {
  const bytes = new TextEncoder().encode(text);
  const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  const tag = parts === 1 ? "" : crypto.randomUUID();
  return Array.from({ length: parts }, (_, i) => ({
    key: [...place, i],
    value: {
      tag,
      parts,
      bytes: bytes.slice(i * PART_BYTES, (i + 1) * PART_BYTES),
    },
  }));
}

/** Each of them fits: whether all together fit into one transaction, too. */
class Room {
  #changes = MAX_CHANGES;
  #bytes = MAX_CHANGE_BYTES;
  #keyBytes = MAX_KEY_BYTES;

  /** Takes one more; whether there was room for it. */
  take({ key, value }: Change): boolean {
    const keyBytes = key.reduce<number>(
      (sum, part) => sum + 10 + (typeof part === "string" ? part.length : 0),
      0,
    );
    this.#changes--;
    this.#keyBytes -= keyBytes;
    this.#bytes -= keyBytes + 100 + value.bytes.length;
    return Math.min(this.#changes, this.#bytes, this.#keyBytes) >= 0;
  }
}

function unusable(place: string, cause: unknown): unknown {
  const isOurs = cause instanceof StateMoved || cause instanceof RowsTooLarge;
  if (isOurs || (cause as { code?: unknown }).code === "store_unavailable") {
    return cause;
  }
  if (/disk is full|disk I\/O error/.test((cause as Error).message)) {
    return pinStoreUnavailable(
      place,
      "it can't be written, the disk may be full",
      { cause, hint: "Make room; what was remembered is as it was." },
    );
  }
  return cause instanceof DeadlineOver
    ? pinStoreUnavailable(place, "Deno KV does not answer in time", { cause })
    : pinStoreUnavailable(place, "Deno KV failed", { cause });
}
