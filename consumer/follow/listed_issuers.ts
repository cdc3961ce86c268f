/** Which issuers may be asked, and what is known of each. @module */

import {
  DEFAULT_LIMITS,
  JsonError,
  parseJson,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { isObject, quote } from "@sig/core/internal";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import {
  heldBytes,
  type IssuerRecord,
  NOTHING_KNOWN,
  type Observation,
  type Refresh,
} from "../memory/issuer_record.ts";
import {
  type HeldDocuments,
  IssuerDocuments,
  NO_DOCUMENTS,
  ReadBefore,
} from "../read/issuer_documents.ts";
import type { IssuerLocation } from "../read/reader.ts";
import {
  IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "../read/source.ts";
import { Semaphore } from "../verify/semaphore.ts";
import { SharedRefresh, type SharedRefreshOptions } from "./shared_refresh.ts";

/** How much is kept of issuers that are not on the list. */
const MAX_UNLISTED = 256;

/** Bytes of all their feeds; a state takes about as much memory as its feed. */
const MAX_UNLISTED_BYTES = 48 * 1024 * 1024;

/** How many of their large feeds are read at a time, and how many wait. */
const LARGE_READS = { maxWorking: 2, maxWaiting: 256, maxWaitMs: 30_000 };

/** Options of {@linkcode ListedIssuers}. */
export interface ListedIssuersOptions {
  /** The issuers on the list, as they are written. */
  readonly issuers: readonly string[];
  /** Others may be asked too. */
  readonly anyIssuer: boolean;
  /** Decides what can be an issuer at all. */
  readonly policy: FetchPolicy;
  /** Reads an issuer again, given what is known of it. */
  readonly refresh: (issuer: KnownIssuer, now: Date) => Promise<Refresh>;
  /** The clock, and how many may wait. */
  readonly waiting: SharedRefreshOptions;
}

/** One issuer, what is known of it, and its refreshes. */
export class KnownIssuer {
  /** Where it publishes. */
  readonly location: ProvenLocation;
  /** Bounds how many large feeds are read; undefined for issuers of the list. */
  readonly largeReads: Semaphore | undefined;
  /** Reads it again; fails with the error of the refresh. */
  readonly refreshes: SharedRefresh<Observation>;
  /** Whether its whole state was asked for, and not that of some subjects. */
  needsState = false;
  /** What is known of it: replaced by each refresh and recall. */
  record: IssuerRecord = NOTHING_KNOWN;
  /** Questions that were answered by proof since the process began. */
  proofReads = 0;
  /** How large the feed was said to be by the last proof. */
  feedBytes: number | undefined;
  /** How long a question may wait, in milliseconds. */
  readonly maxWaitMs: number;
  readonly #metadata: SharedRefresh<HeldDocuments>;
  #hasProofs = false;
  /** What was read to see whether there are proofs. */
  #atHand: HeldDocuments = NO_DOCUMENTS;

  constructor(
    location: ProvenLocation,
    largeReads: Semaphore | undefined,
    { refresh, waiting }: ListedIssuersOptions,
    onKept: () => void,
  ) {
    this.location = location;
    this.largeReads = largeReads;
    this.maxWaitMs = waiting.limits.maxWaitMs;
    this.#metadata = new SharedRefresh(async () => {
      const read = new IssuerDocuments(location.reader, NO_DOCUMENTS);
      const { maxMetadataBytes: maxBytes } = DEFAULT_LIMITS;
      await read.open(location.metadataRef, { name: "metadata", maxBytes });
      return read.documents;
    }, waiting);
    this.refreshes = new SharedRefresh(async (now) => {
      // A silent issuer is not asked twice at a time.
      if (this.#metadata.isBusy) await this.#metadata.current();
      const { record, failure } = await refresh(this, now);
      this.record = record;
      onKept();
      if (failure !== undefined) throw failure.cause;
      return record.held!.observation;
    }, waiting);
  }

  /** Where its proofs can be read; undefined where the feed is to be read. */
  async locateProofs(): Promise<IssuerLocation | undefined> {
    if (this.#hasProofs) return this.location;
    // Somebody is reading the feed already.
    if (this.refreshes.isBusy) return undefined;
    this.#atHand = await this.#metadata.next();
    this.#hasProofs = hasProofs(this.#atHand);
    return this.#hasProofs ? this.takeLocation() : undefined;
  }

  /** Its location; metadata that was read to look for proofs is read no more. */
  takeLocation(): ProvenLocation {
    const { location } = this;
    const reader = new ReadBefore(location.reader, this.#atHand);
    this.#atHand = NO_DOCUMENTS;
    return { ...location, reader };
  }

  /** Whether it is on the list: only those are pinned. */
  get isListed(): boolean {
    return this.largeReads === undefined;
  }
}

/**
 * Finds an issuer by any of its spellings: did:web, host, URL. All of them are
 * one issuer with one pin, or a rolled back feed could be asked for by another
 * name. Issuers of the list are never forgotten. Of others the last 256 that
 * were asked are kept, up to a number of bytes, so that a client that may ask
 * for any issuer can't fill the memory.
 */
export class ListedIssuers {
  readonly #options: ListedIssuersOptions;
  readonly #largeReads = new Semaphore(LARGE_READS);
  readonly #listedSpellings = new Map<string, KnownIssuer>();
  // These two by DID.
  readonly #listed = new Map<string, KnownIssuer>();
  /** In the order of their last question. */
  readonly #unlisted = new Map<string, KnownIssuer>();

  constructor(options: ListedIssuersOptions) {
    this.#options = options;
    for (const text of options.issuers) {
      const name = IssuerName.parse(text, options.policy);
      const { expectedIssuer, metadataRef } = name;
      const issuer = this.#listed.get(expectedIssuer) ??
        this.#create(name, undefined);
      if (issuer.location.metadataRef !== metadataRef) {
        throw twoPlaces(text, issuer);
      }
      this.#listed.set(expectedIssuer, issuer);
      for (const each of [text, expectedIssuer, metadataRef]) {
        this.#listedSpellings.set(each, issuer);
      }
    }
  }

  /**
   * The issuer of a name. That of one on the list is not even parsed.
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
      return this.#findUnlisted(name);
    }
    throw new SigError(
      "issuer_not_allowed",
      `Cannot ask issuer ${quote(text)}: it is not on the list`,
      { context: { issuer: text.slice(0, 200) } },
    );
  }

  /** How many issuers that are not on the list are kept. */
  get unlisted(): number {
    return this.#unlisted.size;
  }

  /** Forgets unlisted issuers beyond the limits, those asked longest ago first. */
  #makeRoom(asked?: KnownIssuer): void {
    let bytes = 0;
    for (const { record } of this.#unlisted.values()) {
      bytes += heldBytes(record);
    }
    // First those that nothing is known of: they displace none that answers.
    for (const isEmpty of [true, false]) {
      for (const [did, issuer] of this.#unlisted) {
        const { record, refreshes } = issuer;
        const isCrowded = this.#unlisted.size > MAX_UNLISTED;
        if (!isCrowded && bytes <= MAX_UNLISTED_BYTES) return;
        // The number of those that are being read is the caller's to limit.
        if (refreshes.isBusy || issuer === asked) continue;
        if ((record.held === undefined) !== isEmpty) continue;
        bytes -= heldBytes(record);
        this.#unlisted.delete(did);
      }
    }
  }

  #create(name: IssuerName, largeReads: Semaphore | undefined): KnownIssuer {
    const location = locateIssuer(name, this.#options.policy);
    const makeRoom = () => this.#makeRoom();
    return new KnownIssuer(location, largeReads, this.#options, makeRoom);
  }

  #findUnlisted(name: IssuerName): KnownIssuer {
    const { text, expectedIssuer: did, metadataRef } = name;
    const known = this.#unlisted.get(did);
    if (known !== undefined && known.location.metadataRef !== metadataRef) {
      // http and https of one host, where http is allowed.
      throw twoPlaces(text, known);
    }
    this.#unlisted.delete(did);
    const issuer = known ?? this.#create(name, this.#largeReads);
    this.#unlisted.set(did, issuer);
    if (known === undefined) this.#makeRoom(issuer);
    return issuer;
  }
}

/** Metadata that can't be read is judged by who reads the issuer. */
function hasProofs(documents: HeldDocuments): boolean {
  try {
    const metadata = parseJson(documents.get("metadata")!.bytes);
    return isObject(metadata) && metadata.proofs_uri !== undefined;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

function usualPlaceOf(metadataRef: string): string {
  return new URL(metadataRef).origin + WELL_KNOWN_PATHS.metadata;
}

/** Otherwise anybody who may put a file on a host could speak for the host. */
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
