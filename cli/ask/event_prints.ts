/** What two feeds say, event by event. @module */

import type { VerifiedEvent } from "@sig/consumer";
import { loadBuiltin } from "@sig/jose";

/** What is used of `node:crypto`, which digests at once. */
interface NodeCrypto {
  createHash(name: "sha256"): {
    update(text: string): { digest(): Uint8Array };
  };
}

/** Bytes of a digest that are kept: enough that nobody finds two alike. */
const BYTES = 16;

/**
 * Digests of a feed's events, so that two feeds are compared in all that they
 * say: equal states may rest upon other events.
 */
export class EventPrints {
  #prints = new Uint8Array(BYTES * 1_024);
  #count = 0;
  // The command line runs in Deno alone, which has it.
  readonly #crypto = loadBuiltin("node:crypto") as NodeCrypto;

  /** Takes the next verified event. */
  add({ event, kid }: VerifiedEvent): void {
    const at = this.#count++ * BYTES;
    if (at === this.#prints.length) {
      const grown = new Uint8Array(2 * at);
      grown.set(this.#prints);
      this.#prints = grown;
    }
    const digest = this.#crypto.createHash("sha256")
      .update(JSON.stringify([kid, event])).digest();
    this.#prints.set(digest.subarray(0, BYTES), at);
  }

  /** The first event, from 1, that both have and that is not the same. */
  firstOther(others: EventPrints): number | undefined {
    const common = BYTES * Math.min(this.#count, others.#count);
    for (let at = 0; at < common; at++) {
      if (this.#prints[at] === others.#prints[at]) continue;
      return Math.floor(at / BYTES) + 1;
    }
    return undefined;
  }
}
