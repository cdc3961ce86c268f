/** Limits the records of one owner. @module */

interface QuotaLimits {
  /** Maximum number of records. */
  readonly maxRecords: number;
  /** Maximum total length of their texts in characters (default: no limit). */
  readonly maxBytes?: number;
}

/** A record that counts for an owner. */
interface Held {
  readonly id: string;
  /** When it expires. */
  readonly until: Date;
  /** Length of its text in characters (default: 0). */
  readonly bytes?: number;
}

/**
 * Counts the records of each owner, such as a client or a person, so that one
 * owner can't fill the store: its new records displace its own oldest. Each
 * process counts only the records that it created.
 */
export class OwnerQuota {
  readonly #limits: QuotaLimits;
  /** Ordered by activity: the owner that was inactive the longest is first. */
  readonly #owners = new Map<
    string,
    { held: Map<string, number>; bytes: number; untilMs: number }
  >();

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** Adds a record and returns the ids of the records that it displaces. */
  add(owner: string, { id, until, bytes = 0 }: Held, at: Date): string[] {
    const { maxRecords, maxBytes = Infinity } = this.#limits;
    this.remove(owner, id);
    const known = this.#owners.get(owner);
    const own = known !== undefined && at.getTime() < known.untilMs
      ? known
      : { held: new Map<string, number>(), bytes: 0, untilMs: 0 };
    this.#owners.delete(owner);
    this.#owners.set(owner, own);
    own.untilMs = Math.max(own.untilMs, until.getTime());
    own.held.set(id, bytes);
    own.bytes += bytes;
    const displaced: string[] = [];
    for (const old of own.held.keys()) {
      const isTooMuch = own.held.size > maxRecords || own.bytes > maxBytes;
      if (old === id || !isTooMuch) break;
      this.remove(owner, old);
      displaced.push(old);
    }
    // Only owners are removed after their expiry; expired records are the
    // oldest, so they are displaced first anyway.
    for (const [other, { untilMs }] of this.#owners) {
      if (at.getTime() < untilMs) break;
      this.#owners.delete(other);
    }
    return displaced;
  }

  /** Removes a record that no longer exists. */
  remove(owner: string, id: string): void {
    const own = this.#owners.get(owner);
    if (own === undefined) return;
    own.bytes -= own.held.get(id) ?? 0;
    own.held.delete(id);
  }
}
