/** Workers that verify signatures in parallel to the reading thread. @module */

import type { ParsedEnvelope } from "@sig/core";
import type { VerificationKey } from "@sig/jose/keys";
import { isStrictSignature, loadBuiltin } from "@sig/jose/internal";

/**
 * Bytes of a feed from which on workers are worth their start (50 to 70 ms):
 * most of a smaller feed would be verified by then.
 */
const WORTH_WORKERS_BYTES = 2 * 1024 * 1024;

/** Bytes of a batch: some milliseconds of signatures. */
const BATCH_BYTES = 256 * 1024;

/** One in work, and enough at hand for the time that judging a batch takes. */
const BATCHES_PER_WORKER = 4;

/** More would wait for the thread that reads. Each takes some 40 MiB. */
const MAX_WORKERS = 6;

const READY = "ready";

/**
 * All that a worker does. A `data:` URL needs no permission, no file next to an
 * executable, and loads nothing of the library.
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
  /** Its 64 bytes. */
  readonly signature: Uint8Array;
  /** What was signed. */
  readonly message: Uint8Array;
  /** The `x` of the key. */
  readonly x: string;
}

/** Options of {@linkcode SignatureWorkers}. */
export interface SignatureWorkersOptions {
  /** How many at most (default: one for each core, up to 6; none for one). */
  readonly maxWorkers?: number | undefined;
}

interface RunningWorker {
  readonly worker: Worker;
  /** What waits for an answer, by its id; undefined where there will be none. */
  readonly tasks: Map<number, (verdicts: Uint8Array | undefined) => void>;
  isReady: boolean;
}

/**
 * Workers for all who read large feeds at the same time. They are started when
 * the first reader joins and ended when the last one leaves. They only find
 * that a signature is valid: every other verdict, and which key counts, is the
 * reader's. A worker that fails leaves its work to the reader.
 *
 * None start where the platform has no workers or no `node:crypto` (browsers,
 * Deno Deploy): then the reader verifies, with the same results.
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

  /** Starts none yet. */
  constructor(options: SignatureWorkersOptions = {}) {
    const cores = globalThis.navigator?.hardwareConcurrency ?? 1;
    const most = cores < 2 ? 0 : Math.min(MAX_WORKERS, cores);
    this.#maxWorkers = options.maxWorkers ?? most;
  }

  /** How many run. */
  get size(): number {
    return this.#running.length;
  }

  /** Whether some run and none of them is ready. */
  get isStarting(): boolean {
    return this.size > 0 && !this.isReady;
  }

  /** Whether a batch would be verified. */
  get isReady(): boolean {
    return this.#running.some(({ isReady }) => isReady);
  }

  /** Comes before batches; a reader that joined must {@linkcode leave}. */
  join(): void {
    if (++this.#readers === 1) this.#start();
  }

  /** The last reader to leave ends the workers, whatever they are doing. */
  leave(): void {
    if (--this.#readers > 0) return;
    for (const each of [...this.#running]) this.#end(each);
  }

  /** For each signature 1 if it is valid; undefined where no worker knows. */
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
        // As many as the platform gives.
        return;
      }
    }
  }

  #listen(worker: Worker): void {
    const each: RunningWorker = { worker, tasks: new Map(), isReady: false };
    this.#running.push(each);
    const fail = (event: Event) => {
      // Else it would end this process.
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

/** A line whose signature a worker has looked at. */
export interface QueuedLine {
  /** The line, parsed. */
  readonly parsed: ParsedEnvelope;
  /** As it came. */
  readonly bytes: Uint8Array;
  /** Whether it has the signature of the key that it was added with. */
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
  /** Those of the lines that workers can verify. */
  readonly signed: SignedMessage[];
  verdicts?: Promise<Uint8Array | undefined>;
  isAnswered: boolean;
}

/**
 * The lines between the one that was read last and the one that was judged
 * last, in their order. Their number is bounded: a reader takes what
 * {@linkcode next} gives when {@linkcode isFull}.
 */
export class SignatureQueue {
  readonly #workers: SignatureWorkers;
  // Used again: as garbage it would add up before it is collected.
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  readonly #sent: Batch[] = [];
  #batch: Batch | undefined;
  #taken: Batch | undefined;
  #bytes = 0;
  #joined = false;

  /** Starts no workers yet. */
  constructor(workers: SignatureWorkers) {
    this.#workers = workers;
  }

  /** Bytes were read. */
  note(bytes: number): void {
    this.#bytes += bytes;
    this.joinFor(this.#bytes);
  }

  /** Starts the workers for a feed of that many bytes, if it is large. */
  joinFor(bytes: number): void {
    if (this.#joined || !(bytes >= WORTH_WORKERS_BYTES)) return;
    this.#joined = true;
    this.#workers.join();
  }

  /** Whether the event loop must turn for workers to become ready. */
  get isStarting(): boolean {
    return this.#joined && this.#workers.isStarting;
  }

  /** Whether lines are to be added; else each is judged at once. */
  get isOpen(): boolean {
    return this.hasLines || this.#joined && this.#workers.isReady;
  }

  /** Whether lines wait to be judged. */
  get hasLines(): boolean {
    return this.#sent.length > 0 || this.#batch !== undefined;
  }

  /** Whether lines must be taken before others are added. */
  get isFull(): boolean {
    return this.#sent.length > BATCHES_PER_WORKER * this.#workers.size;
  }

  /** Whether the next lines can be taken without waiting. */
  get isAnswered(): boolean {
    return this.#sent[0]?.isAnswered ?? false;
  }

  /** Adds a copy of a line, to be verified with a key where there is one. */
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
      ...{ used: 0, lines: [], signed: [], isAnswered: false },
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

  /** Lets a worker begin with what was added. */
  send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#sent.push(batch);
    batch.verdicts = this.#workers.verify(batch.signed).finally(() => {
      batch.isAnswered = true;
    });
  }

  /** The same where the workers have nothing to do. */
  sendIfIdle(): void {
    if (this.#sent.length === 0) this.send();
  }

  /** The next lines, once a worker has answered; valid until the next call. */
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
      ...{ bytes, parsed },
      isProven: isSent && verdicts?.[at++] === 1,
    }));
  }

  /** Gives the workers back; lines that were not taken are gone. */
  end(): void {
    if (this.#joined) this.#workers.leave();
    this.#joined = false;
  }
}
