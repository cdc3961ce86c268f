/** The keys of one refresh, which may be fetched a second time (PROTOCOL §6). @module */

import type { KeyResolver } from "@sig/jose";
import { fetchedKeys } from "./fetched_keys.ts";
import { isWithin } from "./is_within.ts";
import type { IssuerMemory } from "./issuer_memory.ts";
import type { IssuerRecord } from "./issuer_record.ts";
import { type FetchedKeys, judgeKeys } from "./judge_continuity.ts";

/** Keys are fetched a second time within one refresh at most this often. */
const REFETCH_AFTER_MS = 30 * 1000;

/** The keys that an issuer's events are verified with. */
export class RefreshKeys {
  readonly #record: IssuerRecord;
  readonly #first: KeyResolver;
  readonly #reload: () => Promise<KeyResolver>;
  readonly #now: Date;
  #current: KeyResolver;

  /** `first` came with the documents; `reload` gets them anew. */
  constructor(
    record: IssuerRecord,
    first: KeyResolver,
    reload: () => Promise<KeyResolver>,
    now: Date,
  ) {
    this.#record = record;
    this.#first = first;
    this.#reload = reload;
    this.#now = now;
    this.#current = first;
  }

  /** The keys that the last event was verified with. */
  get current(): KeyResolver {
    return this.#current;
  }

  /** They were fetched again: the documents at hand are older. */
  get areNewer(): boolean {
    return this.#current !== this.#first;
  }

  /** What they say of the kids that are remembered. */
  async remembered(memory: IssuerMemory): Promise<FetchedKeys> {
    return await fetchedKeys(this.#current, Object.keys(memory.keys));
  }

  /** Gets them anew; undefined where that happened a moment ago. */
  get refetch(): (() => Promise<KeyResolver>) | undefined {
    const { keysRefetchedAt } = this.#record;
    return isWithin(REFETCH_AFTER_MS, keysRefetchedAt, this.#now)
      ? undefined
      : () => this.#refetch();
  }

  /** Newer keys contradict the memory no less than those that came first. */
  async #refetch(): Promise<KeyResolver> {
    this.#record.keysRefetchedAt = this.#now;
    const keys = await this.#reload();
    const { memory } = this.#record;
    const contradiction = memory && judgeKeys(
      memory,
      await fetchedKeys(keys, Object.keys(memory.keys)),
    );
    if (contradiction !== undefined) throw contradiction;
    this.#current = keys;
    return keys;
  }

  /**
   * What the first keys verified must hold by the newer ones too.
   *
   * @param kids Those that signed.
   * @param events How many events they signed.
   * @throws {SigError} `key_replaced`, `key_withdrawn`.
   */
  async requireAgreement(
    kids: Iterable<string>,
    events: number,
  ): Promise<void> {
    if (!this.areNewer) return;
    const { published, authorized } = await fetchedKeys(this.#first, kids);
    const used = [...published].filter(([kid]) => authorized.has(kid));
    const contradiction = judgeKeys(
      { keys: Object.fromEntries(used), sequence: events },
      await fetchedKeys(this.#current, authorized),
    );
    if (contradiction !== undefined) throw contradiction;
  }
}
