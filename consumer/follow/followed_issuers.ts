/**
 * Which issuers may be asked, and what is kept of how many.
 *
 * Of an issuer this room says: *followed* when it may be asked again and again;
 * *loaded* when its documents are fetched and judged; *verified* when its feed
 * is too; an *observation* when that is known as of a moment; *held* is what is
 * kept of it in this process to go on from and answer from; the *pin* is what
 * later fetches are compared with, a plain value (PROTOCOL §6); *pinned* when
 * nothing but a pin is left.
 *
 * @module
 */

import { quote, SigError, WELL_KNOWN_PATHS } from "@sig/core";
import { FeedAllowance } from "./feed_allowance.ts";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { FollowedIssuer, type FollowOptions } from "./followed_issuer.ts";
import { heldBytes, type PinnedIssuer } from "./issuer_record.ts";
import {
  IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "../read/source.ts";
import { PinnedIssuers } from "./pinned_issuers.ts";
import { Places, type PlacesOptions } from "../verify/places.ts";

/** How much is kept of issuers that are on no list. */
export interface FollowLimits {
  /** Issuers with their states. */
  readonly maxStates: number;
  /**
   * Bytes of all their feeds, those that are being read among them; a state
   * takes about as much memory as its feed.
   */
  readonly maxFeedBytes: number;
  /** Issuers whose pin alone is kept, reduced to about 1 KiB at most. */
  readonly maxPins: number;
  /** Places for reading feeds that are not small. */
  readonly places: PlacesOptions;
}

/** What is kept unless told. */
export const DEFAULT_FOLLOW_LIMITS: FollowLimits = Object.freeze({
  maxStates: 256,
  maxFeedBytes: 96 * 1024 * 1024,
  maxPins: 10_000,
  places: Object.freeze({
    maxWorking: 2,
    maxWaiting: 256,
    maxWaitMs: 30_000,
  }),
});

/** Options of {@linkcode FollowedIssuers}. */
export interface FollowedIssuersOptions extends FollowOptions {
  /** The issuers on the list, as they are written. */
  readonly issuers: readonly string[];
  /** Others may be asked too. */
  readonly anyIssuer: boolean;
  /** How much is kept of those. */
  readonly limits: FollowLimits;
  /** Decides what can be an issuer at all. */
  readonly policy: FetchPolicy;
}

/**
 * Finds an issuer by any of its spellings: did:web, host, URL. All of them are
 * one issuer with one pin, or a rolled back feed could be asked for by
 * another name. Issuers of the list are never forgotten. Of others so much is
 * kept that nobody who may ask for any issuer can fill the memory: the least
 * recently asked loses its state first, and its pin much later, if at all:
 * before that the pins of whichever site has most of them go.
 */
export class FollowedIssuers {
  readonly #options: FollowedIssuersOptions;
  readonly #places: Places;
  readonly #listedSpellings: ReadonlyMap<string, FollowedIssuer>;
  // These two by DID.
  readonly #listed = new Map<string, FollowedIssuer>();
  /** In the order of their last question. */
  readonly #others = new Map<string, FollowedIssuer>();
  readonly #pinned: PinnedIssuers;

  constructor(options: FollowedIssuersOptions) {
    this.#options = options;
    this.#places = new Places(options.limits.places);
    this.#pinned = new PinnedIssuers(options.limits.maxPins);
    const spellings = new Map<string, FollowedIssuer>();
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
  find(asked: string | IssuerName): FollowedIssuer {
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

  /** How many issuers that are on no list have a state, and a pin alone. */
  get size(): { readonly states: number; readonly pins: number } {
    return { states: this.#others.size, pins: this.#pinned.size };
  }

  #create(
    name: IssuerName,
    pinned: PinnedIssuer | undefined,
    allowance: FeedAllowance | undefined,
  ): FollowedIssuer {
    const location = locateIssuer(name, this.#options.policy);
    return new FollowedIssuer(location, pinned, allowance, this.#options);
  }

  #findOther(name: IssuerName): FollowedIssuer {
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
    const pinned = this.#pinned.take(did, hostOf(name));
    const issuer = this.#create(name, pinned, allowance);
    this.#others.set(did, issuer);
    return issuer;
  }

  /** Those that are being asked stay: their number is the caller's to limit. */
  #makeRoom(more: number): void {
    const { maxStates, maxFeedBytes } = this.#options.limits;
    let bytes = 0;
    for (const { record, allowance } of this.#others.values()) {
      bytes += heldBytes(record) + (allowance?.bytes ?? 0);
    }
    const isCrowded = () => this.#others.size + more > maxStates;
    // First those of which nothing came: they must not displace any that answer.
    for (const [did, { record, refreshes }] of this.#others) {
      if (!isCrowded()) break;
      if (refreshes.isBusy || record.pinned !== undefined) continue;
      this.#others.delete(did);
    }
    for (const [did, { location, record, refreshes }] of this.#others) {
      if (!isCrowded() && bytes <= maxFeedBytes) return;
      const { pinned } = record;
      if (refreshes.isBusy || pinned === undefined) continue;
      bytes -= heldBytes(record);
      this.#others.delete(did);
      this.#pinned.keep(did, hostOf(location), pinned);
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

/** One issuer has one pin, which is about one place. */
function twoPlaces(text: string, { location }: FollowedIssuer): SigError {
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
