/** The allowed issuers, and the record of each. @module */

import { SigError, WELL_KNOWN_PATHS } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { PinKeeper } from "../memory/keeper.ts";
import { IssuerDocuments, NO_DOCUMENTS } from "../read/issuer_documents.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { IssuerName, locateIssuer } from "../read/source.ts";
import { Semaphore } from "../verify/semaphore.ts";
import type { RecordStore } from "../store/record_store.ts";
import { BackOff, endingAt } from "./back_off.ts";
import { ProvenParts } from "./proven_parts.ts";
import { FollowedIssuer, type Observation } from "./reading.ts";
import { SharedRefresh, type SharedRefreshOptions } from "./shared_refresh.ts";

/** Maximum number of unlisted issuers that are kept. */
const MAX_UNLISTED = 256;

/** Maximum size of their feeds in bytes, about the memory of their states. */
const MAX_UNLISTED_BYTES = 48 * 1024 * 1024;

/** Limits on concurrent reads of their large feeds. */
const LARGE_READS = { maxWorking: 2, maxWaiting: 256, maxWaitMs: 30_000 };

/** How a {@linkcode KnownIssuer} is refreshed. */
export interface RefreshingOptions {
  /**
   * Refreshes the issuer; rejects if there is no valid feed.
   *
   * @param keepOnly The only subject that is kept (default: all).
   */
  readonly refresh: (
    issuer: KnownIssuer,
    now: Date,
    keepOnly?: string,
  ) => Promise<Observation>;
  readonly waiting: SharedRefreshOptions;
}

/** Options of {@linkcode KnownIssuers}. */
export interface KnownIssuersOptions extends RefreshingOptions {
  readonly issuers: readonly string[];
  readonly anyIssuer: boolean;
  /** Determines which hosts and schemes are allowed. */
  readonly policy: FetchPolicy;
  /** Keeps the pins of listed issuers (default: this process). */
  readonly pins?: RecordStore | undefined;
}

/** An issuer with its pin, its verified states and its refreshes. */
export class KnownIssuer extends FollowedIssuer {
  /** Refreshes the issuer; rejects with the error of the refresh. */
  readonly refreshes: SharedRefresh<Observation>;
  /** Backs off the issuer while it can't be reached. */
  readonly backOff: BackOff;
  readonly parts: ProvenParts = new ProvenParts();
  readonly maxWaitMs: number;
  /** Reads the metadata, to learn whether there are proofs. */
  readonly #metadata: SharedRefresh<void>;
  readonly #refreshing: RefreshingOptions;
  #hasProofs = false;

  constructor(
    location: IssuerLocation,
    keeper: PinKeeper,
    refreshing: RefreshingOptions,
  ) {
    super(location, keeper);
    const { refresh, waiting } = refreshing;
    this.#refreshing = refreshing;
    this.maxWaitMs = waiting.limits.maxWaitMs;
    this.backOff = new BackOff(waiting);
    this.#metadata = new SharedRefresh(async () => {
      const read = new IssuerDocuments(location.reader, NO_DOCUMENTS);
      this.#hasProofs = await read.findProofs(location);
      this.readAhead = { reader: read.again() };
    }, waiting);
    this.refreshes = new SharedRefresh(async (now) => {
      // A silent issuer gets no second concurrent request.
      if (this.#metadata.isBusy) await this.#metadata.run(true);
      return await refresh(this, now);
    }, waiting);
  }

  /** Whether it is on the list. Only listed issuers are pinned. */
  get isListed(): boolean {
    return !this.keeper.forgets;
  }

  /** Size of its states in bytes. */
  get heldBytes(): number {
    return (this.copy?.heldBytes ?? 0) + this.parts.bytes;
  }

  /**
   * Refreshes the issuer for one question, which keeps only its subject: no
   * other question can share the result.
   *
   * @throws the error of the refresh, and the reason of the signal.
   */
  async refreshFor(
    subject: string,
    signal: AbortSignal | undefined,
  ): Promise<Observation> {
    const { refresh, waiting: { now } } = this.#refreshing;
    return await endingAt(signal, refresh(this, now(), subject));
  }

  /** Returns its location if it has proofs; otherwise the feed must be read. */
  async locateProofs(
    signal: AbortSignal | undefined,
  ): Promise<IssuerLocation | undefined> {
    if (this.#hasProofs) return this.location;
    // The feed is already being read.
    if (this.refreshes.isBusy) return undefined;
    await this.#metadata.run(false, signal);
    if (!this.#hasProofs) return undefined;
    return { ...this.location, reader: this.takeReadAhead().reader };
  }
}

/**
 * Finds an issuer by did:web, host or URL. All of them share one pin; otherwise
 * a rolled back feed would be accepted under another name. Listed issuers are
 * always kept. Of unlisted issuers, the 256 most recently used are kept, up to
 * a total size, so that a client can't fill the memory.
 */
export class KnownIssuers {
  readonly #options: KnownIssuersOptions;
  /** Limits concurrent reads of large feeds of unlisted issuers. */
  readonly largeReads = new Semaphore(LARGE_READS);
  readonly #listedSpellings = new Map<string, KnownIssuer>();
  // Both maps have DIDs as keys.
  readonly #listed = new Map<string, KnownIssuer>();
  /** In order of the last question. */
  readonly #unlisted = new Map<string, KnownIssuer>();

  constructor(options: KnownIssuersOptions) {
    this.#options = options;
    for (const text of options.issuers) {
      const name = IssuerName.parse(text, options.policy);
      const { expectedIssuer, metadataRef } = name;
      const issuer = this.#listed.get(expectedIssuer) ??
        this.#create(name, false);
      if (issuer.location.metadataRef !== metadataRef) {
        throw wrongUrl(text, CONFLICTING, issuer.location.metadataRef);
      }
      this.#listed.set(expectedIssuer, issuer);
      for (const each of [text, expectedIssuer, metadataRef]) {
        this.#listedSpellings.set(each, issuer);
      }
    }
  }

  /**
   * Returns the issuer of a name. A name on the list is found without parsing.
   *
   * @throws {SigError} `issuer_not_allowed`, `invalid_identifier` for a URL
   * other than the issuer's own `sig.json`, or as `locateIssuer`.
   */
  find(asked: string | IssuerName): KnownIssuer {
    const text = typeof asked === "string" ? asked : asked.text;
    const known = this.#listedSpellings.get(text);
    if (known !== undefined) return known;
    const name = IssuerName.parse(asked, this.#options.policy);
    const listed = this.#listed.get(name.expectedIssuer);
    // Named by its DID, its host, or the URL on the list.
    const isNamed = name.isWellKnown ||
      name.metadataRef === listed?.location.metadataRef;
    if (listed !== undefined && isNamed) return listed;
    if (this.#options.anyIssuer) {
      if (isNamed) return this.#findUnlisted(name);
      const { origin } = new URL(name.metadataRef);
      throw wrongUrl(text, FOREIGN, origin + WELL_KNOWN_PATHS.metadata);
    }
    throw new SigError("issuer_not_allowed", {
      action: `ask issuer ${quote(text)}`,
      reason: "it is not on the list",
      context: { issuer: text.slice(0, 200) },
    });
  }

  get unlisted(): number {
    return this.#unlisted.size;
  }

  /** Evicts unlisted issuers beyond the limits, least recently used first. */
  makeRoom(asked?: KnownIssuer): void {
    let bytes = 0;
    for (const { heldBytes } of this.#unlisted.values()) bytes += heldBytes;
    // Issuers without a state go first, so that they evict none with a state.
    for (const isEmpty of [true, false]) {
      for (const [did, issuer] of this.#unlisted) {
        const { heldBytes, refreshes } = issuer;
        const isCrowded = this.#unlisted.size > MAX_UNLISTED;
        if (!isCrowded && bytes <= MAX_UNLISTED_BYTES) return;
        // The caller limits the number of issuers that are being read.
        if (refreshes.isBusy || issuer === asked) continue;
        if ((heldBytes === 0) !== isEmpty) continue;
        bytes -= heldBytes;
        this.#unlisted.delete(did);
      }
    }
  }

  #create(name: IssuerName, forgets: boolean): KnownIssuer {
    const location = locateIssuer(name, this.#options.policy);
    const store = forgets ? undefined : this.#options.pins;
    const keeper = new PinKeeper(location.expectedIssuer, { store, forgets });
    return new KnownIssuer(location, keeper, this.#options);
  }

  #findUnlisted(name: IssuerName): KnownIssuer {
    const { text, expectedIssuer: did, metadataRef } = name;
    const known = this.#unlisted.get(did);
    if (known !== undefined && known.location.metadataRef !== metadataRef) {
      // http and https of one host, if http is allowed.
      throw wrongUrl(text, CONFLICTING, known.location.metadataRef);
    }
    this.#unlisted.delete(did);
    const issuer = known ?? this.#create(name, true);
    this.#unlisted.set(did, issuer);
    if (known === undefined) this.makeRoom(issuer);
    return issuer;
  }
}

/** Any user who can upload a file to a host could otherwise speak for it. */
const FOREIGN = "an unlisted issuer is read only at its host's own sig.json";

/** The pin of an issuer belongs to one URL. */
const CONFLICTING = "the same issuer is already read at another URL";

function wrongUrl(text: string, why: string, right: string): SigError {
  return new SigError("invalid_identifier", {
    action: `ask issuer ${quote(text)}`,
    reason: why,
    context: {
      identifier: text.slice(0, 200),
      hint: `Ask for ${right.slice(0, 300)}`,
    },
  });
}
