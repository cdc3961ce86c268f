/** Which issuers may be asked, and what is kept of how many. @module */

import { quote, SigError } from "@sig/core";
import type { FetchPolicy } from "./fetch_options.ts";
import { IssuerRecord, type PastIssuer } from "./issuer_record.ts";
import type { IssuerLocation } from "./load_issuer.ts";
import { locateIssuer } from "./locate_issuer.ts";
import type { RefreshQueue } from "./refresh_queue.ts";
import type { RefreshOutcome } from "./refresh_issuer.ts";

/** An issuer that may be asked. */
export interface KnownIssuer {
  /** Where it publishes. */
  readonly location: IssuerLocation;
  /** What is known of it. */
  readonly record: IssuerRecord;
  /** Asks it. */
  readonly refreshes: RefreshQueue<RefreshOutcome>;
}

/** How much is kept of issuers that are on no list. */
export interface KeptIssuers {
  /** Issuers with their states. */
  readonly maxStates: number;
  /** Bytes of all their feeds; a state takes about as much memory as its feed. */
  readonly maxFeedBytes: number;
  /** Issuers whose memory alone is kept. */
  readonly maxMemories: number;
  /** Characters of all these memories as JSON. */
  readonly maxMemoryLength: number;
}

/** What is kept unless told. */
export const DEFAULT_KEPT_ISSUERS: KeptIssuers = Object.freeze({
  maxStates: 256,
  maxFeedBytes: 256 * 1024 * 1024,
  maxMemories: 10_000,
  maxMemoryLength: 32 * 1024 * 1024,
});

/** Options of {@linkcode KnownIssuers}. */
export interface KnownIssuersOptions {
  /** The issuers on the list, as they are written. */
  readonly issuers: readonly string[];
  /** Others may be asked too. */
  readonly anyIssuer: boolean;
  /** How much is kept of those. */
  readonly kept: KeptIssuers;
  /** Decides what can be an issuer at all. */
  readonly policy: FetchPolicy;
  /** Makes what asks an issuer. */
  readonly ask: (
    location: IssuerLocation,
    record: IssuerRecord,
  ) => RefreshQueue<RefreshOutcome>;
}

/** Spellings of issuers whose reading is kept. */
const MAX_SPELLINGS = 4096;

/** Longer spellings are read each time. */
const MAX_SPELLING_LENGTH = 512;

/**
 * Finds an issuer by any of its spellings: did:web, host, URL. Issuers of the
 * list are never forgotten. Of others so much is kept that nobody who may ask
 * for any issuer can fill the memory: the least recently asked loses its state
 * first, and its memory much later.
 */
export class KnownIssuers {
  readonly #options: KnownIssuersOptions;
  readonly #spellings = new Map<string, IssuerLocation>();
  readonly #listedSpellings: ReadonlyMap<string, KnownIssuer>;
  readonly #listed = new Map<string, KnownIssuer>();
  /** In the order of their last question. */
  readonly #others = new Map<string, KnownIssuer>();
  readonly #past = new Map<string, PastIssuer>();
  #pastLength = 0;

  constructor(options: KnownIssuersOptions) {
    this.#options = options;
    this.#listedSpellings = new Map(options.issuers.map((text) => {
      const location = locateIssuer(text, options.policy);
      const { metadataRef } = location;
      const issuer = this.#listed.get(metadataRef) ?? this.#create(location);
      this.#listed.set(metadataRef, issuer);
      return [text, issuer];
    }));
  }

  /**
   * The issuer that a text names.
   *
   * @throws {SigError} `issuer_not_allowed`, or as `locateIssuer`.
   */
  find(text: string): KnownIssuer {
    const known = this.#listedSpellings.get(text);
    if (known !== undefined) return known;
    const location = this.#locate(text);
    const listed = this.#listed.get(location.metadataRef);
    if (listed !== undefined) return listed;
    if (this.#options.anyIssuer) return this.#findOther(location);
    throw new SigError(
      "issuer_not_allowed",
      `Cannot ask issuer ${quote(text)}: it is not on the list`,
      { context: { issuer: text.slice(0, 200) } },
    );
  }

  /** How many issuers that are on no list have a state, and a memory alone. */
  get size(): { readonly states: number; readonly memories: number } {
    return { states: this.#others.size, memories: this.#past.size };
  }

  #create(location: IssuerLocation, past?: PastIssuer): KnownIssuer {
    const record = new IssuerRecord(past);
    return { location, record, refreshes: this.#options.ask(location, record) };
  }

  #locate(text: string): IssuerLocation {
    const known = this.#spellings.get(text);
    if (known !== undefined) return known;
    const location = locateIssuer(text, this.#options.policy);
    if (text.length <= MAX_SPELLING_LENGTH) {
      this.#spellings.set(text, location);
      if (this.#spellings.size > MAX_SPELLINGS) dropFirst(this.#spellings);
    }
    return location;
  }

  #findOther(location: IssuerLocation): KnownIssuer {
    const ref = location.metadataRef;
    const known = this.#others.get(ref);
    if (known !== undefined) {
      this.#others.delete(ref);
      this.#others.set(ref, known);
      return known;
    }
    this.#makeRoom();
    const issuer = this.#create(location, this.#takePast(ref));
    this.#others.set(ref, issuer);
    return issuer;
  }

  /** Those that are being asked stay: their number is the caller's to limit. */
  #makeRoom(): void {
    const { maxStates, maxFeedBytes } = this.#options.kept;
    let bytes = 0;
    for (const { record } of this.#others.values()) {
      bytes += record.memory?.bytes ?? 0;
    }
    const hasRoom = () =>
      this.#others.size < maxStates && bytes <= maxFeedBytes;
    // First those of which nothing came: they must not displace any that answer.
    for (const hasState of [false, true]) {
      for (const [ref, { record, refreshes }] of this.#others) {
        if (hasRoom()) return;
        const { past } = record;
        if (refreshes.isBusy || (past !== undefined) !== hasState) continue;
        this.#others.delete(ref);
        if (past === undefined) continue;
        bytes -= past.memory.bytes;
        this.#keepPast(ref, past);
      }
    }
  }

  #keepPast(ref: string, past: PastIssuer): void {
    const { maxMemories, maxMemoryLength } = this.#options.kept;
    this.#past.set(ref, past);
    this.#pastLength += lengthOf(past);
    while (
      this.#past.size > maxMemories || this.#pastLength > maxMemoryLength
    ) {
      const dropped = dropFirst(this.#past);
      if (dropped !== undefined) this.#pastLength -= lengthOf(dropped);
    }
  }

  #takePast(ref: string): PastIssuer | undefined {
    const past = this.#past.get(ref);
    if (past === undefined) return undefined;
    this.#past.delete(ref);
    this.#pastLength -= lengthOf(past);
    return past;
  }
}

/** A memory can be large: up to 256 kids, and an `event_id` of a whole line. */
function lengthOf({ memory }: PastIssuer): number {
  return JSON.stringify(memory).length;
}

/** Maps go through their entries in the order of insertion. */
function dropFirst<V>(map: Map<string, V>): V | undefined {
  for (const [key, value] of map) {
    map.delete(key);
    return value;
  }
  return undefined;
}
