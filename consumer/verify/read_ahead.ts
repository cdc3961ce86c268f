/** Lines of a feed whose signatures are on their way to a verdict. @module */

import type { ParsedEnvelope } from "@sig/core";
import { isStrictSignature, type VerificationKey } from "@sig/jose";
import {
  BATCHES_PER_WORKER,
  type SignatureWorkers,
} from "./signature_workers.ts";

/**
 * Bytes of a feed after which workers are asked for: with fewer, most of the
 * feed is verified by the time that they have started (50 to 70 ms).
 */
const START_AFTER_BYTES = 2 * 1024 * 1024;

/** Bytes of lines in a batch: some milliseconds of signatures. */
const BATCH_BYTES = 256 * 1024;

/** A line without a fault so far. */
export interface AheadLine {
  /** The line; valid until the next batch is asked for. */
  readonly parsed: ParsedEnvelope;
  /** The key that its signature is proven to be of. */
  readonly provenKey: VerificationKey | undefined;
}

interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  used: number;
  readonly lines: ParsedEnvelope[];
  /** The key that each line's signature is judged with; none for some. */
  readonly keys: (VerificationKey | undefined)[];
  /** Undefined for what the thread that reads is to verify itself. */
  verdicts: Promise<Uint8Array | undefined> | undefined;
  isAnswered: boolean;
}

/** A turn of the event loop, in which workers are heard. */
const turn = () =>
  new Promise<void>((resolve) =>
    "setImmediate" in globalThis
      ? (globalThis.setImmediate as (run: () => void) => void)(resolve)
      : setTimeout(resolve)
  );

/**
 * The lines between the one that was read last and the one that was judged
 * last, in order. Their number is bounded: who reads must take what
 * {@linkcode next} gives when {@linkcode isFull}.
 */
export class ReadAhead {
  readonly #workers: SignatureWorkers;
  readonly #takesPart: boolean;
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  readonly #sent: Batch[] = [];
  #batch: Batch | undefined;
  #taken: Batch | undefined;
  #bytes = 0;
  #joined = false;

  /**
   * @param takesPart Whether this thread verifies what the workers have no room
   * for, instead of waiting for them.
   */
  constructor(workers: SignatureWorkers, takesPart: boolean) {
    this.#workers = workers;
    this.#takesPart = takesPart;
  }

  /** Counts what is read, and asks for workers once it is much. */
  note(bytes: number): void {
    this.#bytes += bytes;
    if (this.#joined || this.#bytes < START_AFTER_BYTES) return;
    this.#joined = true;
    this.#workers.join();
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
    return this.#sent.length > BATCHES_PER_WORKER * this.#workers.size + 1;
  }

  /** Whether the next lines have their verdicts. */
  get isAnswered(): boolean {
    return this.#sent[0]?.isAnswered ?? false;
  }

  /**
   * Adds a copy of a line. False for one so long that it is worth no batch.
   *
   * @param key What its signature is to be judged with, if that is known.
   */
  add(parsed: ParsedEnvelope, key: VerificationKey | undefined): boolean {
    const { header, signingInput, signature, payload } = parsed;
    const length = signingInput.length + signature.length + payload.length;
    if (length > BATCH_BYTES) return false;
    if ((this.#batch?.used ?? 0) + length > BATCH_BYTES) this.send();
    const batch = this.#batch ??= this.#newBatch();
    const copy = (bytes: Uint8Array) => {
      const from = batch.used;
      batch.bytes.set(bytes, from);
      batch.used += bytes.length;
      return batch.bytes.subarray(from, batch.used);
    };
    batch.lines.push({
      header,
      signingInput: copy(signingInput),
      signature: copy(signature),
      payload: copy(payload),
    });
    batch.keys.push(isStrictSignature(signature) ? key : undefined);
    return true;
  }

  /** Lets the workers begin with what was added. */
  send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#sent.push(batch);
    if (this.#takesPart && !this.#workers.hasRoom) return;
    batch.verdicts = this.#verify(batch);
  }

  /** The same where they have nothing to do. */
  sendIfIdle(): void {
    if (this.#sent.length === 0) this.send();
  }

  /** The next lines; waits for their verdicts. */
  async next(): Promise<readonly AheadLine[]> {
    if (this.#taken !== undefined) this.#spare.push(this.#taken.bytes);
    if (this.#sent.length === 0) this.send();
    const [batch] = this.#sent;
    if (batch === undefined) return [];
    while (!batch.isAnswered) {
      const own = this.#sent.find(({ verdicts }) => verdicts === undefined);
      if (own === undefined) break;
      own.verdicts = this.#verifyHere(own);
      await own.verdicts;
      await turn();
    }
    const verdicts = await batch.verdicts;
    this.#taken = batch;
    this.#sent.shift();
    let at = 0;
    return batch.lines.map((parsed, i) => {
      const key = batch.keys[i];
      const isProven = key !== undefined && verdicts?.[at++] === 1;
      return { parsed, provenKey: isProven ? key : undefined };
    });
  }

  /** Gives the workers back; lines that were not taken are gone. */
  end(): void {
    if (this.#joined) this.#workers.leave();
    this.#joined = false;
  }

  #newBatch(): Batch {
    return {
      bytes: this.#spare.pop() ?? new Uint8Array(BATCH_BYTES),
      used: 0,
      lines: [],
      keys: [],
      verdicts: undefined,
      isAnswered: false,
    };
  }

  async #verifyHere(batch: Batch): Promise<Uint8Array> {
    const verdicts: number[] = [];
    for (const [i, { signature, signingInput }] of batch.lines.entries()) {
      const verdict = batch.keys[i]?.verify(signature, signingInput);
      if (verdict === undefined) continue;
      const isValid = verdict instanceof Promise ? await verdict : verdict;
      verdicts.push(isValid ? 1 : 0);
    }
    batch.isAnswered = true;
    return Uint8Array.from(verdicts);
  }

  async #verify(batch: Batch): Promise<Uint8Array | undefined> {
    const xs = new Map<string, number>();
    const places: number[] = [];
    batch.lines.forEach(({ signingInput }, i) => {
      const x = batch.keys[i]?.jwk.x;
      if (x === undefined) return;
      const key = xs.get(x) ?? xs.size;
      xs.set(x, key);
      const from = signingInput.byteOffset;
      places.push(key, from, from + signingInput.length);
    });
    // A copy goes: what a worker took with it when it died could not be
    // verified any more.
    const verdicts = await this.#workers.verify({
      bytes: batch.bytes.slice(0, batch.used),
      places: Uint32Array.from(places),
      keys: [...xs.keys()],
    });
    batch.isAnswered = true;
    return verdicts;
  }
}
