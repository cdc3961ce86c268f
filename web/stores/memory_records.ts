/** Sessions, codes and the like in this process's memory. @module */

import {
  kindFull,
  type NewRecord,
  RECORD_LIMITS,
  type RecordKind,
  type RecordStore,
  type StoredRecord,
} from "./record_store.ts";
import { settle } from "./settle.ts";

/**
 * Keeps records in memory, for one process: when it ends, everybody is logged
 * out. There are no timers: what has expired is swept with the first put of a
 * second, by whole seconds of expiry.
 *
 * @example
 * ```ts
 * import { createMemoryRecords } from "./memory_records.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const records = createMemoryRecords();
 * const at = new Date("2026-01-31T09:00:00Z");
 * const expiresAtMs = at.getTime() + 60_000;
 * await records.put("grant", "c1", { text: "{}", expiresAtMs }, null, at);
 * assertEquals((await records.take("grant", "c1", at))?.text, "{}");
 * assertEquals(await records.take("grant", "c1", at), undefined);
 * ```
 *
 * @param limits how many of a kind at most; those of `RECORD_LIMITS` unless told.
 */
export function createMemoryRecords(
  limits: Partial<Record<RecordKind, number>> = {},
): RecordStore {
  const rooms = new Map<RecordKind, Room>();
  const roomOf = (kind: RecordKind) => {
    const room = rooms.get(kind) ??
      new Room(kind, limits[kind] ?? RECORD_LIMITS[kind]);
    rooms.set(kind, room);
    return room;
  };
  return {
    get: (kind, id, at) => settle(() => roomOf(kind).get(id, at)),
    put: (kind, id, record, over, at) =>
      settle(() => roomOf(kind).put(id, record, over, at)),
    take: (kind, id, at) => settle(() => roomOf(kind).take(id, at)),
    list: (kind, at) => settle(() => ({ records: roomOf(kind).list(at) })),
    close() {
      rooms.clear();
      return Promise.resolve();
    },
  };
}

class Room {
  readonly #kind: RecordKind;
  readonly #limit: number;
  readonly #records = new Map<string, StoredRecord>();
  /** Ids by the second in which they may be swept; some are gone by then. */
  readonly #due = new Map<number, string[]>();
  #versions = 0;
  #sweptSecond = -Infinity;

  constructor(kind: RecordKind, limit: number) {
    this.#kind = kind;
    this.#limit = limit;
  }

  get(id: string, at: Date): StoredRecord | undefined {
    const record = this.#records.get(id);
    return record !== undefined && at.getTime() < record.expiresAtMs
      ? record
      : undefined;
  }

  put(id: string, record: NewRecord, over: string | null, at: Date): boolean {
    this.#sweep(at);
    const old = this.get(id, at);
    if ((old?.version ?? null) !== over) return false;
    if (!this.#records.has(id) && this.#records.size >= this.#limit) {
      throw kindFull(this.#kind, this.#limit);
    }
    const { text, expiresAtMs } = record;
    this.#records.set(id, {
      text,
      expiresAtMs,
      version: String(++this.#versions),
    });
    if (old?.expiresAtMs !== expiresAtMs) {
      const second = Math.ceil(expiresAtMs / 1000);
      const due = this.#due.get(second);
      if (due === undefined) this.#due.set(second, [id]);
      else due.push(id);
    }
    return true;
  }

  take(id: string, at: Date): StoredRecord | undefined {
    const record = this.get(id, at);
    if (record !== undefined) this.#records.delete(id);
    return record;
  }

  list(at: Date): (StoredRecord & { readonly id: string })[] {
    const listed = [];
    for (const [id, record] of this.#records) {
      if (at.getTime() < record.expiresAtMs) listed.push({ id, ...record });
    }
    return listed;
  }

  #sweep(at: Date): void {
    const second = Math.floor(at.getTime() / 1000);
    // Not "later than": a clock that was set ahead once must not end sweeping.
    if (second === this.#sweptSecond) return;
    this.#sweptSecond = second;
    for (const [due, ids] of this.#due) {
      if (!(due <= second)) continue;
      this.#due.delete(due);
      for (const id of ids) {
        if (this.get(id, at) === undefined) this.#records.delete(id);
      }
    }
  }
}
