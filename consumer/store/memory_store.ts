/** Records in the memory of this process. @module */

import {
  isLive,
  kindFull,
  type NewRecord,
  type RecordKind,
  type RecordStore,
  requireRecordSize,
  type StoredRecord,
  storeUnavailable,
} from "./record_store.ts";

const PLACE = "in memory";

/**
 * Keeps records in memory, for one process. Uses no timers: the first put of
 * each second removes expired records.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "@sig/consumer/store";
 * import { assertEquals } from "@std/assert";
 *
 * const store = createMemoryStore();
 * const codes = { name: "code", maxRecords: 1_000 };
 * const at = new Date("2026-01-31T09:00:00Z");
 * const expiresAtMs = at.getTime() + 60_000;
 * await store.put(codes, "c1", { text: "{}", expiresAtMs }, null, at);
 * assertEquals((await store.take(codes, "c1", at))?.text, "{}");
 * assertEquals(await store.take(codes, "c1", at), undefined);
 * ```
 */
export function createMemoryStore(): RecordStore {
  const partitions = new Map<string, Partition>();
  const partitionOf = ({ name }: RecordKind) => {
    const partition = partitions.get(name) ?? new Partition();
    partitions.set(name, partition);
    return partition;
  };
  return {
    place: PLACE,
    get: (kind, id, at) => settle(() => partitionOf(kind).get(id, at)),
    put: (kind, id, record, over, at) =>
      settle(() => partitionOf(kind).put(kind, id, record, over, at)),
    take: (kind, id, at) => settle(() => partitionOf(kind).take(id, at)),
    list: (kind, at) => settle(() => ({ records: partitionOf(kind).list(at) })),
    close() {
      partitions.clear();
      return Promise.resolve();
    },
  };
}

/**
 * Returns a promise of the result. Runs `work` synchronously, so that no other
 * call can run in between.
 */
function settle<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

class Partition {
  readonly #records = new Map<string, StoredRecord>();
  #bytes = 0;
  #versions = 0;
  #sweptSecond = -Infinity;

  get(id: string, at: Date): StoredRecord | undefined {
    const record = this.#records.get(id);
    return record !== undefined && isLive(record, at) ? record : undefined;
  }

  put(
    kind: RecordKind,
    id: string,
    { text, expiresAtMs }: NewRecord,
    over: string | null,
    at: Date,
  ): boolean {
    requireRecordSize(text, storeUnavailable.bind(undefined, PLACE));
    this.#sweep(at);
    const old = this.get(id, at);
    if ((old?.version ?? null) !== over) return false;
    if (old === undefined) {
      this.#delete(id);
      const { maxRecords = Infinity, maxBytes = Infinity } = kind;
      if (
        this.#records.size >= maxRecords ||
        this.#bytes + bytesOf(text) > maxBytes
      ) throw kindFull(kind);
    }
    this.#delete(id);
    this.#records.set(id, {
      text,
      expiresAtMs,
      version: String(++this.#versions),
    });
    this.#bytes += bytesOf(text);
    return true;
  }

  take(id: string, at: Date): StoredRecord | undefined {
    const record = this.get(id, at);
    if (record !== undefined) this.#delete(id);
    return record;
  }

  list(at: Date): (StoredRecord & { readonly id: string })[] {
    const listed = [];
    for (const [id, record] of this.#records) {
      if (isLive(record, at)) listed.push({ id, ...record });
    }
    return listed;
  }

  #delete(id: string): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#bytes -= bytesOf(record.text);
    this.#records.delete(id);
  }

  #sweep(at: Date): void {
    const second = Math.floor(at.getTime() / 1000);
    // Not "later than": a clock that was ahead once must not stop the removal.
    if (second === this.#sweptSecond) return;
    this.#sweptSecond = second;
    for (const [id, record] of this.#records) {
      if (!isLive(record, at)) this.#delete(id);
    }
  }
}

/**
 * Memory that the engine uses for a text: two bytes per character if any is
 * beyond Latin-1.
 */
function bytesOf(text: string): number {
  return /^[\0-\xff]*$/.test(text) ? text.length : text.length * 2;
}
