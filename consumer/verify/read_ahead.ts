/** Lines of a feed whose signatures are on their way to a verdict. @module */

import type { EventHeader, ParsedEnvelope } from "@sig/core";
import type { KeyResolver, VerificationKey } from "@sig/jose";
import type { KnownHeader, SignedLines } from "./signature_worker.ts";
import {
  BATCHES_PER_WORKER,
  type PendingVerdicts,
  type SignatureWorkers,
} from "./signature_workers.ts";

/**
 * Bytes of a feed for which workers are asked for: with fewer, most of the feed
 * is verified by the time that they have started (50 to 70 ms).
 */
const WORTH_WORKERS_BYTES = 2 * 1024 * 1024;

/** Bytes of lines in a batch: some milliseconds of signatures. */
const BATCH_BYTES = 128 * 1024;

/**
 * Batches that this thread may have read beside those that the workers hold:
 * it verifies some of these while the first one of all is not answered yet.
 */
const BATCHES_BESIDE = 8;

/** More distinct headers than an honest feed has keys. */
const MAX_KNOWN_HEADERS = 64;

/** The key of each header, by which a line's signature was verified. */
export type ProvenKeys = ReadonlyMap<EventHeader, VerificationKey>;

/** A line that waited. */
export interface AheadLine {
  /** Its bytes; valid until the next lines are asked for. */
  readonly bytes: Uint8Array;
  /**
   * If it is plain, its signature is of the key of its header; undefined where
   * nothing is proven.
   */
  readonly proven: ProvenKeys | undefined;
}

interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  used: number;
  readonly ends: number[];
  keys: ProvenKeys;
  /** Undefined for what the thread that reads is to verify itself. */
  pending: PendingVerdicts | undefined;
}

const NO_KEYS: ProvenKeys = new Map();

/**
 * The lines between the one that was read last and the one that was judged
 * last, in order, as they were read: what workers find out about them only
 * spares verifying a signature when they are judged. Their number is bounded:
 * who reads must take what {@linkcode next} gives when {@linkcode isFull}.
 */
export class ReadAhead {
  readonly #workers: SignatureWorkers;
  readonly #takesPart: boolean;
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  readonly #sent: Batch[] = [];
  /** As they stand in lines. */
  readonly #headers = new Map<EventHeader, string>();
  #lastHeader: EventHeader | undefined;
  #keys: KeyResolver;
  #batch: Batch | undefined;
  #taken: Batch | undefined;
  #bytes = 0;
  #joined = false;

  /**
   * @param takesPart Whether this thread verifies what the workers have no room
   * for, instead of waiting for them.
   */
  constructor(
    workers: SignatureWorkers,
    keys: KeyResolver,
    takesPart: boolean,
  ) {
    this.#workers = workers;
    this.#keys = keys;
    this.#takesPart = takesPart;
  }

  /**
   * Asks for workers at once where much is to come. A thread that others wait
   * for too believes what it has read alone: whoever claims much and sends
   * little would have it start workers for nothing.
   */
  expect(bytes: number): void {
    if (this.#takesPart) this.#joinFor(bytes);
  }

  /** Counts what is read, and asks for workers once it is much. */
  note(bytes: number): void {
    this.#bytes += bytes;
    this.#joinFor(this.#bytes);
  }

  #joinFor(bytes: number): void {
    if (this.#joined || !(bytes >= WORTH_WORKERS_BYTES)) return;
    this.#joined = true;
    this.#workers.join();
  }

  /** Learns the header of a line that was judged, and with which keys. */
  learn({ header, signingInput }: ParsedEnvelope, keys: KeyResolver): void {
    this.#keys = keys;
    if (header === this.#lastHeader) return;
    this.#lastHeader = header;
    if (this.#headers.has(header)) return;
    if (this.#headers.size >= MAX_KNOWN_HEADERS) this.#headers.clear();
    const ascii = signingInput.subarray(0, signingInput.indexOf(DOT));
    this.#headers.set(header, String.fromCharCode(...ascii));
  }

  /** Whether workers are about to be ready: let the event loop turn. */
  get isStarting(): boolean {
    return this.#joined && this.#workers.isStarting;
  }

  /** Whether lines are to be added; else each is judged at once. */
  get isReady(): boolean {
    return this.#joined && this.#workers.isReady;
  }

  /** Whether lines wait to be judged. */
  get hasLines(): boolean {
    return this.#sent.length > 0 || this.#batch !== undefined;
  }

  /** Whether lines must be taken before others are added. */
  get isFull(): boolean {
    return this.#sent.length >=
      BATCHES_PER_WORKER * this.#workers.size + BATCHES_BESIDE;
  }

  /** Whether the next lines have their verdicts. */
  get isAnswered(): boolean {
    return this.#sent[0]?.pending?.isAnswered ?? false;
  }

  /** Adds a copy of a line. False for one so long that it is worth no batch. */
  add(line: Uint8Array): boolean {
    if (line.length > BATCH_BYTES) return false;
    if ((this.#batch?.used ?? 0) + line.length > BATCH_BYTES) this.send();
    const batch = this.#batch ??= {
      bytes: this.#spare.pop() ?? new Uint8Array(BATCH_BYTES),
      used: 0,
      ends: [],
      keys: NO_KEYS,
      pending: undefined,
    };
    batch.bytes.set(line, batch.used);
    batch.used += line.length;
    batch.ends.push(batch.used);
    return true;
  }

  /** Lets the workers begin with what was added. */
  send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#sent.push(batch);
    if (this.#takesPart && !this.#workers.hasRoom) return;
    batch.pending = this.#workers.verify(this.#pack(batch));
  }

  /** The same where they have nothing to do. */
  sendIfIdle(): void {
    if (this.#sent.length === 0) this.send();
  }

  /** The next lines; waits for their verdicts. */
  async next(): Promise<readonly AheadLine[]> {
    if (this.#taken !== undefined) this.#spare.push(this.#taken.bytes);
    this.#taken = undefined;
    if (this.#sent.length === 0) this.send();
    const [batch] = this.#sent;
    if (batch === undefined) return [];
    if (batch.pending !== undefined) this.#useTime(batch.pending);
    const verdicts = await batch.pending?.verdicts();
    this.#taken = batch;
    this.#sent.shift();
    let start = 0;
    return batch.ends.map((end, i) => {
      const bytes = batch.bytes.subarray(start, end);
      start = end;
      return { bytes, proven: verdicts?.[i] === 1 ? batch.keys : undefined };
    });
  }

  /** Gives the workers back; lines that were not taken are gone. */
  end(): void {
    if (this.#joined) this.#workers.leave();
    this.#joined = false;
  }

  /** Verifies what no worker has, while a worker has the first batch. */
  #useTime(first: PendingVerdicts): void {
    while (!first.isAnswered) {
      const own = this.#sent.find(({ pending }) => pending === undefined);
      if (own === undefined) return;
      const verdicts = this.#workers.verifyHere(this.#pack(own));
      own.pending = {
        isAnswered: true,
        verdicts: () => Promise.resolve(verdicts),
      };
    }
  }

  /**
   * A copy goes: what a worker took with it when it died could not be judged
   * any more.
   */
  #pack(batch: Batch): SignedLines {
    const keys = new Map<EventHeader, VerificationKey>();
    const headers: KnownHeader[] = [];
    for (const [header, text] of this.#headers) {
      const key = keyOf(this.#keys, header);
      if (key === undefined) continue;
      keys.set(header, key);
      headers.push({ text, x: key.jwk.x });
    }
    batch.keys = keys;
    return {
      bytes: batch.bytes.slice(0, batch.used),
      ends: Uint32Array.from(batch.ends),
      headers,
    };
  }
}

const DOT = 0x2e;

/** Undefined for a key that is not known yet, or no key of this issuer. */
function keyOf(
  keys: KeyResolver,
  { kid }: EventHeader,
): VerificationKey | undefined {
  try {
    return keys.resolve(kid);
  } catch {
    return undefined;
  }
}
