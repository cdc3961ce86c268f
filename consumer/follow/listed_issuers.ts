/** The allowed issuers, and the record of each. @module */

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
import { BackOff } from "./back_off.ts";
import { SharedRefresh, type SharedRefreshOptions } from "./shared_refresh.ts";

/** Maximum number of unlisted issuers that are kept. */
const MAX_UNLISTED = 256;

/** Maximum size of their feeds in bytes, about the memory of their states. */
const MAX_UNLISTED_BYTES = 48 * 1024 * 1024;

/** Limits on concurrent reads of their large feeds. */
const LARGE_READS = { maxWorking: 2, maxWaiting: 256, maxWaitMs: 30_000 };

export interface ListedIssuersOptions {
  readonly issuers: readonly string[];
  readonly anyIssuer: boolean;
  /** Determines which hosts and schemes are allowed. */
  readonly policy: FetchPolicy;
  readonly refresh: (issuer: KnownIssuer, now: Date) => Promise<Refresh>;
  readonly waiting: SharedRefreshOptions;
}

/** An issuer with its record and its refreshes. */
export class KnownIssuer {
  readonly location: ProvenLocation;
  /** Limits concurrent reads of large feeds; undefined for listed issuers. */
  readonly largeReads: Semaphore | undefined;
  /** Refreshes the issuer; rejects with the error of the refresh. */
  readonly refreshes: SharedRefresh<Observation>;
  /** Spares the issuer while it can't be reached. */
  readonly backOff: BackOff;
  /** Whether the last question needed the whole state. */
  needsState = false;
  /** The record; replaced by each refresh and each read of the store. */
  record: IssuerRecord = NOTHING_KNOWN;
  /** Questions answered by proof since the process began. */
  proofReads = 0;
  /** Size of the feed according to the last proof. */
  feedBytes: number | undefined;
  readonly maxWaitMs: number;
  readonly #metadata: SharedRefresh<HeldDocuments>;
  #hasProofs = false;
  /** The metadata that was read to check for proofs. */
  #prefetched: HeldDocuments = NO_DOCUMENTS;

  constructor(
    location: ProvenLocation,
    largeReads: Semaphore | undefined,
    { refresh, waiting }: ListedIssuersOptions,
    onKept: () => void,
  ) {
    this.location = location;
    this.largeReads = largeReads;
    this.maxWaitMs = waiting.limits.maxWaitMs;
    this.backOff = new BackOff(waiting);
    this.#metadata = new SharedRefresh(async () => {
      const read = new IssuerDocuments(location.reader, NO_DOCUMENTS);
      const { maxMetadataBytes: maxBytes } = DEFAULT_LIMITS;
      await read.open(location.metadataRef, { name: "metadata", maxBytes });
      return read.documents;
    }, waiting);
    this.refreshes = new SharedRefresh(async (now) => {
      // A silent issuer gets no second concurrent request.
      if (this.#metadata.isBusy) await this.#metadata.current();
      const { record, failure } = await refresh(this, now);
      this.record = record;
      onKept();
      if (failure !== undefined) throw failure.cause;
      return record.held!.observation;
    }, waiting);
  }

  /** Returns its location if it has proofs; otherwise the feed must be read. */
  async locateProofs(): Promise<IssuerLocation | undefined> {
    if (this.#hasProofs) return this.location;
    // The feed is already being read.
    if (this.refreshes.isBusy) return undefined;
    this.#prefetched = await this.#metadata.next();
    this.#hasProofs = hasProofs(this.#prefetched);
    return this.#hasProofs ? this.takeLocation() : undefined;
  }

  /** Returns its location; metadata that was already read is used once. */
  takeLocation(): ProvenLocation {
    const { location } = this;
    const reader = new ReadBefore(location.reader, this.#prefetched);
    this.#prefetched = NO_DOCUMENTS;
    return { ...location, reader };
  }

  /** Whether it is on the list. Only listed issuers are pinned. */
  get isListed(): boolean {
    return this.largeReads === undefined;
  }
}

/**
 * Finds an issuer by did:web, host or URL. All of them share one pin; otherwise
 * a rolled back feed would be accepted under another name. Listed issuers are
 * always kept. Of unlisted issuers, the 256 most recently used are kept, up to
 * a total size, so that a client can't fill the memory.
 */
export class ListedIssuers {
  readonly #options: ListedIssuersOptions;
  readonly #largeReads = new Semaphore(LARGE_READS);
  readonly #listedSpellings = new Map<string, KnownIssuer>();
  // Both maps have DIDs as keys.
  readonly #listed = new Map<string, KnownIssuer>();
  /** In order of the last question. */
  readonly #unlisted = new Map<string, KnownIssuer>();

  constructor(options: ListedIssuersOptions) {
    this.#options = options;
    for (const text of options.issuers) {
      const name = IssuerName.parse(text, options.policy);
      const { expectedIssuer, metadataRef } = name;
      const issuer = this.#listed.get(expectedIssuer) ??
        this.#create(name, undefined);
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
    const isNamed = name.isUsual ||
      name.metadataRef === listed?.location.metadataRef;
    if (listed !== undefined && isNamed) return listed;
    if (this.#options.anyIssuer) {
      if (isNamed) return this.#findUnlisted(name);
      const { origin } = new URL(name.metadataRef);
      throw wrongUrl(text, FOREIGN, origin + WELL_KNOWN_PATHS.metadata);
    }
    throw new SigError(
      "issuer_not_allowed",
      `Cannot ask issuer ${quote(text)}: it is not on the list`,
      { context: { issuer: text.slice(0, 200) } },
    );
  }

  get unlisted(): number {
    return this.#unlisted.size;
  }

  /** Evicts unlisted issuers beyond the limits, least recently used first. */
  #makeRoom(asked?: KnownIssuer): void {
    let bytes = 0;
    for (const { record } of this.#unlisted.values()) {
      bytes += heldBytes(record);
    }
    // Issuers without a state go first, so that they evict none with a state.
    for (const isEmpty of [true, false]) {
      for (const [did, issuer] of this.#unlisted) {
        const { record, refreshes } = issuer;
        const isCrowded = this.#unlisted.size > MAX_UNLISTED;
        if (!isCrowded && bytes <= MAX_UNLISTED_BYTES) return;
        // The caller limits the number of issuers that are being read.
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
      // http and https of one host, if http is allowed.
      throw wrongUrl(text, CONFLICTING, known.location.metadataRef);
    }
    this.#unlisted.delete(did);
    const issuer = known ?? this.#create(name, this.#largeReads);
    this.#unlisted.set(did, issuer);
    if (known === undefined) this.#makeRoom(issuer);
    return issuer;
  }
}

/**
 * Returns whether metadata names proofs. Invalid metadata is reported by the
 * refresh.
 */
function hasProofs(documents: HeldDocuments): boolean {
  try {
    const metadata = parseJson(documents.get("metadata")!.bytes);
    return isObject(metadata) && metadata.proofs_uri !== undefined;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

/** Any user who can upload a file to a host could otherwise speak for it. */
const FOREIGN = "an unlisted issuer is read only at its host's own sig.json";

/** The pin of an issuer belongs to one URL. */
const CONFLICTING = "the same issuer is already read at another URL";

function wrongUrl(text: string, why: string, right: string): SigError {
  return new SigError(
    "invalid_identifier",
    `Cannot ask issuer ${quote(text)}: ${why}`,
    {
      context: {
        identifier: text.slice(0, 200),
        hint: `Ask for ${right.slice(0, 300)}`,
      },
    },
  );
}
