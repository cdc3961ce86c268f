/** Limits the records of one owner. @module */

interface QuotaLimits {
  /** Maximum number of records. */
  readonly maxRecords: number;
  /**
   * Maximum number of records of all owners; a new one then displaces the oldest
   * of the owner with the most (default: no limit).
   */
  readonly maxTotal?: number;
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

  #total = 0;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** Adds a record and returns the ids of the records that it displaces. */
  add(owner: string, { id, until, bytes = 0 }: Held, at: Date): string[] {
    const { maxRecords, maxBytes = Infinity, maxTotal = Infinity } =
      this.#limits;
    this.remove(owner, id);
    // Only owners are removed after their expiry; expired records are the
    // oldest, so they are displaced first anyway.
    for (const [other, { untilMs }] of this.#owners) {
      if (at.getTime() < untilMs) break;
      this.#forget(other);
    }
    const own = this.#owners.get(owner) ??
      { held: new Map<string, number>(), bytes: 0, untilMs: 0 };
    this.#owners.delete(owner);
    this.#owners.set(owner, own);
    own.untilMs = Math.max(own.untilMs, until.getTime());
    own.held.set(id, bytes);
    own.bytes += bytes;
    this.#total++;
    const displaced: string[] = [];
    const displaceOldest = (from: string) => {
      const [oldest] = this.#owners.get(from)!.held.keys();
      this.remove(from, oldest!);
      displaced.push(oldest!);
    };
    while (
      own.held.size > 1 &&
      (own.held.size > maxRecords || own.bytes > maxBytes)
    ) displaceOldest(owner);
    if (this.#total > maxTotal) displaceOldest(this.#largest());
    return displaced;
  }

  /** Removes a record that no longer exists. */
  remove(owner: string, id: string): void {
    const own = this.#owners.get(owner);
    if (own === undefined) return;
    own.bytes -= own.held.get(id) ?? 0;
    if (own.held.delete(id)) this.#total--;
    if (own.held.size === 0) this.#forget(owner);
  }

  /** The number of owners, which are only remembered while they have records. */
  get owners(): number {
    return this.#owners.size;
  }

  #forget(owner: string): void {
    this.#total -= this.#owners.get(owner)?.held.size ?? 0;
    this.#owners.delete(owner);
  }

  /** Returns the owner with the most records; of equal ones the oldest. */
  #largest(): string {
    let largest = "";
    let most = 0;
    for (const [owner, { held }] of this.#owners) {
      if (held.size > most) [largest, most] = [owner, held.size];
    }
    return largest;
  }
}
