/** What the rules remember of each relationship. @module */

import { CompactIds } from "./compact_ids.ts";

/** The number of a relationship that no upsert was about. */
export const UNKNOWN = -1;

/** Relationships by number: whom each is about, and whether it is revoked. */
export class KnownRelationships {
  readonly #ids = new CompactIds();
  readonly #subjects = new CompactIds();
  /** Of each relationship twice its subject's number, and 1 if revoked. */
  #entries = new Uint32Array(256);

  /** Its number, or {@linkcode UNKNOWN}. */
  find(id: string): number {
    return this.#ids.indexOf(id);
  }

  /** Adds one that is unknown. */
  add(id: string, subject: string): void {
    const number = this.#ids.add(id);
    if (number >= this.#entries.length) {
      const larger = new Uint32Array(2 * this.#entries.length);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[number] = 2 * this.#numberOf(subject);
  }

  /** Whether its last upsert named that subject. */
  isAbout(number: number, subject: string): boolean {
    return this.#entries[number]! >>> 1 ===
      this.#subjects.indexOf(subject);
  }

  /** Whether its last event was a revoke. */
  isRevoked(number: number): boolean {
    return (this.#entries[number]! & 1) === 1;
  }

  /** It is about another subject from now on. */
  setSubject(number: number, subject: string): void {
    const revoked = this.isRevoked(number);
    this.#entries[number] = 2 * this.#numberOf(subject);
    this.setRevoked(number, revoked);
  }

  /** Its last event was a revoke, or was none. */
  setRevoked(number: number, revoked: boolean): void {
    const subject = this.#entries[number]! >>> 1;
    this.#entries[number] = 2 * subject + (revoked ? 1 : 0);
  }

  #numberOf(subject: string): number {
    const known = this.#subjects.indexOf(subject);
    return known >= 0 ? known : this.#subjects.add(subject);
  }
}
