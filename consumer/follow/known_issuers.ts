/** Which issuers may be asked, and what is kept of how many. @module */

import { quote, SigError, WELL_KNOWN_PATHS } from "@sig/core";
import { FeedAllowance } from "./feed_allowance.ts";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { IssuerRecord, type PastIssuer } from "./issuer_record.ts";
import {
  IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "../read/locate_issuer.ts";
import { PastIssuers } from "./past_issuers.ts";
import { Places, type PlacesOptions } from "../verify/places.ts";
import type { RefreshQueue } from "./refresh_queue.ts";
import type { RefreshOutcome } from "./refresh_issuer.ts";

/** An issuer that may be asked. */
export interface KnownIssuer {
  /** Where it publishes. */
  readonly location: ProvenLocation;
  /** What is known of it. */
  readonly record: IssuerRecord;
  /** Bounds what is read of one that is on no list. */
  readonly allowance?: FeedAllowance | undefined;
  /** Asks it. */
  readonly refreshes: RefreshQueue<RefreshOutcome>;
}

/** How much is kept of issuers that are on no list. */
export interface KeptIssuers {
  /** Issuers with their states. */
  readonly maxStates: number;
  /**
   * Bytes of all their feeds, those that are being read among them; a state
   * takes about as much memory as its feed.
   */
  readonly maxFeedBytes: number;
  /** Issuers whose memory alone is kept, reduced to about 1 KiB at most. */
  readonly maxMemories: number;
  /** Places for reading feeds that are not small. */
  readonly places: PlacesOptions;
}

/** What is kept unless told. */
export const DEFAULT_KEPT_ISSUERS: KeptIssuers = Object.freeze({
  maxStates: 256,
  maxFeedBytes: 96 * 1024 * 1024,
  maxMemories: 10_000,
  places: Object.freeze({
    maxWorking: 2,
    maxWaiting: 256,
    maxWaitMs: 30_000,
  }),
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
    location: ProvenLocation,
    record: IssuerRecord,
    allowance: FeedAllowance | undefined,
  ) => RefreshQueue<RefreshOutcome>;
}

/**
 * Finds an issuer by any of its spellings: did:web, host, URL. All of them are
 * one issuer with one memory, or a rolled back feed could be asked for by
 * another name. Issuers of the list are never forgotten. Of others so much is
 * kept that nobody who may ask for any issuer can fill the memory: the least
 * recently asked loses its state first, and its memory much later, if at all:
 * before that the memories of whichever site has most of them go.
 */
export class KnownIssuers {
  readonly #options: KnownIssuersOptions;
  readonly #places: Places;
  readonly #listedSpellings: ReadonlyMap<string, KnownIssuer>;
  // These two by DID.
  readonly #listed = new Map<string, KnownIssuer>();
  /** In the order of their last question. */
  readonly #others = new Map<string, KnownIssuer>();
  readonly #past: PastIssuers;

  constructor(options: KnownIssuersOptions) {
    this.#options = options;
    this.#places = new Places(options.kept.places);
    this.#past = new PastIssuers(options.kept.maxMemories);
    const spellings = new Map<string, KnownIssuer>();
    for (const text of options.issuers) {
      const name = IssuerName.parse(text, options.policy);
      const { expectedIssuer, metadataRef } = name;
      const issuer = this.#listed.get(expectedIssuer) ??
        this.#create(name, undefined, undefined);
      if (issuer.location.metadataRef !== metadataRef) {
        throw twoPlaces(text, issuer);
      }
      this.#listed.set(expectedIssuer, issuer);
      for (const each of [text, expectedIssuer, metadataRef]) {
        spellings.set(each, issuer);
      }
    }
    this.#listedSpellings = spellings;
  }

  /**
   * The issuer of a name. That of one on the list is not even read.
   *
   * @throws {SigError} `issuer_not_allowed`, `invalid_identifier` for a URL that
   * is not the issuer's own `sig.json`, or as `locateIssuer`.
   */
  find(asked: string | IssuerName): KnownIssuer {
    const text = typeof asked === "string" ? asked : asked.text;
    const known = this.#listedSpellings.get(text);
    if (known !== undefined) return known;
    const name = IssuerName.parse(asked, this.#options.policy);
    const listed = this.#listed.get(name.expectedIssuer);
    // By its name, or by the place that the operator chose for it.
    const isNamed = name.isUsual ||
      name.metadataRef === listed?.location.metadataRef;
    if (listed !== undefined && isNamed) return listed;
    if (this.#options.anyIssuer) {
      if (!isNamed) throw notItsOwn(name);
      return this.#findOther(name);
    }
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

  #create(
    name: IssuerName,
    past: PastIssuer | undefined,
    allowance: FeedAllowance | undefined,
  ): KnownIssuer {
    const location = locateIssuer(name, this.#options.policy);
    const record = new IssuerRecord(past);
    const refreshes = this.#options.ask(location, record, allowance);
    return { location, record, allowance, refreshes };
  }

  #findOther(name: IssuerName): KnownIssuer {
    const { text, expectedIssuer: did, metadataRef } = name;
    const known = this.#others.get(did);
    if (known !== undefined) {
      // http and https of one host, where http is allowed.
      if (known.location.metadataRef !== metadataRef) {
        throw twoPlaces(text, known);
      }
      this.#others.delete(did);
      this.#others.set(did, known);
      return known;
    }
    this.#makeRoom(1);
    const allowance = new FeedAllowance(this.#places, () => this.#makeRoom(0));
    const past = this.#past.take(did, hostOf(name));
    const issuer = this.#create(name, past, allowance);
    this.#others.set(did, issuer);
    return issuer;
  }

  /** Those that are being asked stay: their number is the caller's to limit. */
  #makeRoom(more: number): void {
    const { maxStates, maxFeedBytes } = this.#options.kept;
    let bytes = 0;
    for (const { record, allowance } of this.#others.values()) {
      bytes += record.stateBytes + (allowance?.bytes ?? 0);
    }
    const isCrowded = () => this.#others.size + more > maxStates;
    // First those of which nothing came: they must not displace any that answer.
    for (const [did, { record, refreshes }] of this.#others) {
      if (!isCrowded()) break;
      if (refreshes.isBusy || record.past !== undefined) continue;
      this.#others.delete(did);
    }
    for (const [did, { location, record, refreshes }] of this.#others) {
      if (!isCrowded() && bytes <= maxFeedBytes) return;
      const { past } = record;
      if (refreshes.isBusy || past === undefined) continue;
      bytes -= record.stateBytes;
      this.#others.delete(did);
      this.#past.keep(did, hostOf(location), past);
    }
  }
}

function hostOf({ metadataRef }: Pick<ProvenLocation, "metadataRef">): string {
  return new URL(metadataRef).hostname;
}

function usualPlaceOf(metadataRef: string): string {
  return new URL(metadataRef).origin + WELL_KNOWN_PATHS.metadata;
}

/** Else whoever may put a file on a host could speak for the host. */
function notItsOwn({ text, metadataRef }: IssuerName): SigError {
  return new SigError(
    "invalid_identifier",
    `Cannot ask issuer ${quote(text)}: an issuer that is on no list is asked ` +
      "at its host's own sig.json only",
    {
      context: {
        identifier: text.slice(0, 200),
        hint: `Ask for ${usualPlaceOf(metadataRef).slice(0, 300)}`,
      },
    },
  );
}

/** One issuer has one memory, which is about one place. */
function twoPlaces(text: string, { location }: KnownIssuer): SigError {
  return new SigError(
    "invalid_identifier",
    `Cannot ask issuer ${quote(text)}: the same issuer is asked at another ` +
      "place already",
    {
      context: {
        identifier: text.slice(0, 200),
        hint: `Ask for ${location.metadataRef.slice(0, 300)}`,
      },
    },
  );
}
