/**
 * Verifies signatures in workers, in parallel to the reading thread. @module
 */

import type { ParsedEnvelope } from "@sig/core";
import type { VerificationKey } from "@sig/jose/keys";
import { isStrictSignature, loadBuiltin } from "@sig/jose/internal";

/**
 * Size in bytes from which a feed is verified with workers. A smaller one would
 * be almost verified in the 50 to 70 ms that they take to start.
 */
const MIN_WORKERS_BYTES = 2 * 1024 * 1024;

/** Size of a batch in bytes: some milliseconds of signatures. */
const BATCH_BYTES = 256 * 1024;

/**
 * Maximum number of batches in memory per worker: one being verified, and
 * enough others while the reader processes a batch.
 */
const BATCHES_PER_WORKER = 4;

/**
 * Maximum number of workers. More would wait for the reading thread. Each takes
 * about 40 MiB.
 */
const MAX_WORKERS = 6;

const READY = "ready";

/**
 * The whole code of a worker. A `data:` URL needs no permission and no file
 * next to an executable, and loads nothing of the library.
 */
const WORKER_URL = `data:text/javascript,${
  encodeURIComponent(`import { createPublicKey, verify } from "node:crypto";
const known = new Map();
const importKey = (x) => {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  if (known.size < 256) known.set(x, key);
  return key;
};
globalThis.onmessage = ({ data: { id, batch } }) => {
  const isValid = ({ signature, message, x }) =>
    verify(null, message, known.get(x) ?? importKey(x), signature);
  const verdicts = Uint8Array.from(batch, (each) => isValid(each) ? 1 : 0);
  globalThis.postMessage({ id, verdicts });
};
globalThis.postMessage("${READY}");`)
}`;

/** A signature to verify. */
export interface SignedMessage {
  /** The signature of 64 bytes. */
  readonly signature: Uint8Array;
  /** The signed bytes. */
  readonly message: Uint8Array;
  /** The public key, as the `x` of its JWK. */
  readonly x: string;
}

/** Options of {@linkcode SignatureWorkers}. */
export interface SignatureWorkersOptions {
  /**
   * Maximum number of workers (default: one per core, up to 6; none on a single
   * core).
   */
  readonly maxWorkers?: number | undefined;
}

interface RunningWorker {
  readonly worker: Worker;
  /**
   * Resolves each pending task by its id, with undefined if the worker fails.
   */
  readonly tasks: Map<number, (verdicts: Uint8Array | undefined) => void>;
  isReady: boolean;
}

/**
 * A pool of workers, shared by all concurrent readers of large feeds. The
 * workers start when the first reader joins and end when the last one leaves.
 * They only confirm valid signatures: the reader verifies all others, and
 * chooses the key. If a worker fails, the reader does its work.
 *
 * No workers start on platforms without workers or `node:crypto` (browsers,
 * Deno Deploy): there the reader verifies all signatures, with the same
 * results.
 *
 * @example One feed with two workers
 * ```ts
 * import { SignatureWorkers, verifyFeed } from "@sig/consumer";
 * import { createKeyResolver } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const verified = await verifyFeed([], {
 *   issuer: "did:web:acme.example",
 *   keys: await createKeyResolver({ keys: [] }),
 *   publicOnly: true,
 *   now: new Date("2026-01-01T00:00:00Z"),
 *   workers: new SignatureWorkers({ maxWorkers: 2 }),
 * });
 * assertEquals(verified.faults, []);
 * ```
 */
export class SignatureWorkers {
  readonly #maxWorkers: number;
  #running: RunningWorker[] = [];
  #readers = 0;
  #lastId = 0;

  /** Creates a pool without starting workers. */
  constructor(options: SignatureWorkersOptions = {}) {
    const cores = globalThis.navigator?.hardwareConcurrency ?? 1;
    const most = cores < 2 ? 0 : Math.min(MAX_WORKERS, cores);
    this.#maxWorkers = options.maxWorkers ?? most;
  }

  /** The number of running workers. */
  get size(): number {
    return this.#running.length;
  }

  /** Whether workers are running and none is ready yet. */
  get isStarting(): boolean {
    return this.size > 0 && !this.isReady;
  }

  /** Whether at least one worker is ready. */
  get isReady(): boolean {
    return this.#running.some(({ isReady }) => isReady);
  }

  /**
   * Must be called before `verify`. Each reader that joins must {@linkcode
   * leave}.
   */
  join(): void {
    if (++this.#readers === 1) this.#start();
  }

  /**
   * Leaves the pool. When the last reader leaves, all workers end immediately.
   */
  leave(): void {
    if (--this.#readers > 0) return;
    for (const each of [...this.#running]) this.#end(each);
  }

  /**
   * Returns 1 for each valid signature, or undefined if no worker could verify
   * the batch.
   */
  verify(batch: readonly SignedMessage[]): Promise<Uint8Array | undefined> {
    const [least] = this.#running.filter(({ isReady }) => isReady)
      .sort((a, b) => a.tasks.size - b.tasks.size);
    if (least === undefined) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    const verdicts = Promise.withResolvers<Uint8Array | undefined>();
    const { length } = batch;
    least.tasks.set(id, (given) => {
      verdicts.resolve(given?.length === length ? given : undefined);
    });
    least.worker.postMessage({ id, batch });
    return verdicts.promise;
  }

  #start(): void {
    if (typeof Worker !== "function") return;
    if (loadBuiltin("node:crypto") === undefined) return;
    for (let i = 0; i < this.#maxWorkers; i++) {
      try {
        const options = { type: "module", name: "signatures" } as const;
        this.#listen(new Worker(WORKER_URL, options));
      } catch {
        // The platform allows no more workers.
        return;
      }
    }
  }

  #listen(worker: Worker): void {
    const each: RunningWorker = { worker, tasks: new Map(), isReady: false };
    this.#running.push(each);
    const fail = (event: Event) => {
      // Otherwise the error would end this process.
      event.preventDefault();
      this.#end(each);
    };
    worker.onerror = fail;
    worker.onmessageerror = fail;
    worker.onmessage = ({ data }) => {
      if (data === READY) {
        each.isReady = true;
        return;
      }
      const { id, verdicts } = data as { id?: number; verdicts?: unknown };
      const resolve = each.tasks.get(id!);
      each.tasks.delete(id!);
      resolve?.(verdicts instanceof Uint8Array ? verdicts : undefined);
    };
  }

  #end(each: RunningWorker): void {
    each.worker.terminate();
    this.#running = this.#running.filter((other) => other !== each);
    for (const resolve of each.tasks.values()) resolve(undefined);
    each.tasks.clear();
  }
}

/** A queued line after a worker has answered. */
interface QueuedLine {
  readonly parsed: ParsedEnvelope;
  readonly bytes: Uint8Array;
  /** Whether a worker found the signature valid for the given key. */
  readonly isProven: boolean;
}

interface Batch {
  memory: Uint8Array<ArrayBuffer>;
  used: number;
  readonly lines: {
    parsed: ParsedEnvelope;
    bytes: Uint8Array;
    isSent: boolean;
  }[];
  readonly signed: SignedMessage[];
  verdicts?: Promise<Uint8Array | undefined>;
  isAnswered: boolean;
}

/**
 * The lines that were read but not processed, in order. Bounded: if {@linkcode
 * isFull}, the lines of {@linkcode next} must be processed first.
 */
export class SignatureQueue {
  readonly #workers: SignatureWorkers;
  // Memory is reused, because it would accumulate before garbage collection.
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  readonly #sent: Batch[] = [];
  #batch: Batch | undefined;
  #taken: Batch | undefined;
  #bytes = 0;
  #joined = false;

  constructor(workers: SignatureWorkers) {
    this.#workers = workers;
  }

  /** Starts the workers once enough bytes were read. */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    this.joinFor(this.#bytes);
  }

  /** Starts the workers if a feed of this size in bytes is large. */
  joinFor(bytes: number): void {
    if (this.#joined || !(bytes >= MIN_WORKERS_BYTES)) return;
    this.#joined = true;
    this.#workers.join();
  }

  /** Whether workers need a turn of the event loop to become ready. */
  get isStarting(): boolean {
    return this.#joined && this.#workers.isStarting;
  }

  /**
   * Whether lines must be added; otherwise the reader verifies each
   * immediately.
   */
  get isOpen(): boolean {
    return this.hasLines || this.#joined && this.#workers.isReady;
  }

  get hasLines(): boolean {
    return this.#sent.length > 0 || this.#batch !== undefined;
  }

  /** Whether lines must be processed before others are added. */
  get isFull(): boolean {
    return this.#sent.length > BATCHES_PER_WORKER * this.#workers.size;
  }

  /** Whether `next` returns lines without waiting. */
  get isAnswered(): boolean {
    return this.#sent[0]?.isAnswered ?? false;
  }

  /** Adds a copy of a line. A worker verifies it if a key is given. */
  add(
    bytes: Uint8Array,
    { header, signature, signingInput, payload }: ParsedEnvelope,
    key: VerificationKey | undefined,
  ): void {
    const length = bytes.length + signature.length + signingInput.length +
      payload.length;
    if ((this.#batch?.used ?? 0) + length > BATCH_BYTES) this.send();
    const batch = this.#batch ??= {
      memory: length > BATCH_BYTES
        ? new Uint8Array(length)
        : this.#spare.pop() ?? new Uint8Array(BATCH_BYTES),
      used: 0,
      lines: [],
      signed: [],
      isAnswered: false,
    };
    const copy = (part: Uint8Array) => {
      batch.memory.set(part, batch.used);
      return batch.memory.subarray(batch.used, batch.used += part.length);
    };
    const copied = {
      header,
      signature: copy(signature),
      signingInput: copy(signingInput),
      payload: copy(payload),
    };
    const isSent = key !== undefined && isStrictSignature(signature);
    batch.lines.push({ bytes: copy(bytes), parsed: copied, isSent });
    if (!isSent) return;
    batch.signed.push({
      signature: copied.signature,
      message: copied.signingInput,
      x: key.jwk.x,
    });
  }

  send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#sent.push(batch);
    batch.verdicts = this.#workers.verify(batch.signed).finally(() => {
      batch.isAnswered = true;
    });
  }

  /** Sends the added lines if the workers have nothing to do. */
  sendIfIdle(): void {
    if (this.#sent.length === 0) this.send();
  }

  /**
   * Returns the next lines when a worker has answered. They are valid until the
   * next call.
   */
  async next(): Promise<readonly QueuedLine[]> {
    if (this.#taken?.memory.length === BATCH_BYTES) {
      this.#spare.push(this.#taken.memory);
    }
    this.#taken = undefined;
    this.sendIfIdle();
    const [batch] = this.#sent;
    if (batch === undefined) return [];
    const verdicts = await batch.verdicts;
    this.#taken = batch;
    this.#sent.shift();
    let at = 0;
    return batch.lines.map(({ bytes, parsed, isSent }) => ({
      bytes,
      parsed,
      isProven: isSent && verdicts?.[at++] === 1,
    }));
  }

  end(): void {
    if (this.#joined) this.#workers.leave();
    this.#joined = false;
  }
}
