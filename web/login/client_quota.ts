/** How much of a kind of record one client may hold. @module */

/** Limits of one client. */
interface QuotaLimits {
  /** Records. */
  readonly maxRecords: number;
  /** Characters of their texts (default: no limit). */
  readonly maxBytes?: number;
}

/** A record that counts for a client. */
interface Held {
  readonly id: string;
  readonly bytes: number;
}

/**
 * Counts the records of each client, so that one client can't fill the store:
 * its own oldest records make room for its new ones. Each process counts what it
 * created.
 *
 * @example
 * ```ts
 * import { ClientQuota } from "./client_quota.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const quota = new ClientQuota({ maxRecords: 1 });
 * const at = new Date("2026-01-31T09:00:00Z");
 * const until = new Date("2026-01-31T09:05:00Z");
 * const bytes = 10;
 * assertEquals(quota.add("192.0.2.1", { id: "a", bytes }, until, at), []);
 * assertEquals(quota.add("192.0.2.2", { id: "b", bytes }, until, at), []);
 * assertEquals(quota.add("192.0.2.1", { id: "c", bytes }, until, at), ["a"]);
 * ```
 */
export class ClientQuota {
  readonly #limits: QuotaLimits;
  /** The client that was active longest ago comes first. */
  readonly #clients = new Map<
    string,
    { held: Held[]; bytes: number; untilMs: number }
  >();

  /** Nothing is held yet. */
  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** Adds a record, and returns the ids of those that must make room for it. */
  add(client: string, record: Held, until: Date, at: Date): string[] {
    const { maxRecords, maxBytes = Infinity } = this.#limits;
    const known = this.#clients.get(client);
    const own = known !== undefined && at.getTime() < known.untilMs
      ? known
      : { held: [], bytes: 0, untilMs: 0 };
    this.#clients.delete(client);
    this.#clients.set(client, own);
    own.untilMs = Math.max(own.untilMs, until.getTime());
    own.held.push(record);
    own.bytes += record.bytes;
    let excess = 0;
    while (
      own.held.length - excess > maxRecords ||
      (own.bytes > maxBytes && own.held.length - excess > 1)
    ) own.bytes -= own.held[excess++]!.bytes;
    // What has expired is not looked for: the oldest records go first anyway.
    for (const [other, { untilMs }] of this.#clients) {
      if (at.getTime() < untilMs) break;
      this.#clients.delete(other);
    }
    return own.held.splice(0, excess).map(({ id }) => id);
  }
}
