/** Workers that verify signatures beside the thread that reads. @module */

import { loadBuiltin } from "@sig/jose";
import {
  READY,
  type SignatureVerdicts,
  signatureWorkerUrl,
  type SignedTexts,
} from "./signature_worker.ts";

/**
 * Batches that a worker holds: one in work, and enough at hand for the time
 * that the reading thread takes for a batch of its own and for judging.
 */
export const BATCHES_PER_WORKER = 4;

/**
 * More would wait for the one thread that reads and replays: that is about a
 * sixth to a quarter of the work. Each takes some 40 MiB.
 */
const MAX_WORKERS = 6;

/** Options of {@linkcode SignatureWorkers}. */
export interface SignatureWorkersOptions {
  /** How many at most; one for each core but one, up to 6, unless told. */
  readonly maxWorkers?: number | undefined;
}

interface Task {
  readonly texts: SignedTexts;
  readonly resolve: (verdicts: Uint8Array | undefined) => void;
}

interface RunningWorker {
  readonly worker: Worker;
  readonly tasks: Map<number, Task>;
  isReady: boolean;
}

/**
 * Workers for all who read large feeds at the same time. They are started when
 * the first one joins and ended when the last one leaves, and never hold more
 * than a verdict: a worker that dies leaves its work to those who asked.
 *
 * None start where the platform has no workers or no `node:crypto` (browsers,
 * Deno Deploy): then the thread that reads verifies, with the same results.
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
  readonly #waiting: Task[] = [];
  #running: RunningWorker[] = [];
  #members = 0;
  #lastId = 0;

  /** Starts none yet. */
  constructor(options: SignatureWorkersOptions = {}) {
    const cores = globalThis.navigator?.hardwareConcurrency ?? 1;
    this.#maxWorkers = options.maxWorkers ?? Math.min(MAX_WORKERS, cores - 1);
  }

  /** How many run. */
  get size(): number {
    return this.#running.length;
  }

  /** Whether some run and none of them has said yet that it is ready. */
  get isStarting(): boolean {
    return this.size > 0 && !this.isReady;
  }

  /** Whether a batch would be verified. */
  get isReady(): boolean {
    return this.#running.some(({ isReady }) => isReady);
  }

  /** Whether a batch would be taken in hand at once. */
  get hasRoom(): boolean {
    return this.#waiting.length === 0 &&
      this.#running.some(({ isReady, tasks }) =>
        isReady && tasks.size < BATCHES_PER_WORKER
      );
  }

  /** Comes before batches; whoever joined must {@linkcode leave}. */
  join(): void {
    this.#members++;
    if (this.#members === 1) this.#start();
  }

  /** The last one to leave ends the workers, whatever they are doing. */
  leave(): void {
    this.#members--;
    if (this.#members > 0) return;
    for (const each of [...this.#running]) this.#end(each);
  }

  /**
   * Verifies a batch, whose bytes are given away.
   *
   * @returns a verdict for each place; undefined when no worker came to one.
   */
  verify(texts: SignedTexts): Promise<Uint8Array | undefined> {
    const { promise, resolve } = Promise.withResolvers<
      Uint8Array | undefined
    >();
    this.#waiting.push({ texts, resolve });
    this.#hand();
    return promise;
  }

  #start(): void {
    if (typeof Worker !== "function") return;
    if (loadBuiltin("node:crypto") === undefined) return;
    const url = signatureWorkerUrl();
    for (let i = 0; i < this.#maxWorkers; i++) {
      try {
        this.#listen(new Worker(url, { type: "module", name: "signatures" }));
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
    worker.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data === READY) each.isReady = true;
      else this.#answer(each, data as SignatureVerdicts);
      this.#hand();
    };
  }

  #answer({ tasks }: RunningWorker, { id, verdicts }: SignatureVerdicts): void {
    const task = tasks.get(id);
    tasks.delete(id);
    task?.resolve(verdicts);
  }

  /** Gives waiting batches to workers, the least busy one first. */
  #hand(): void {
    while (this.#waiting.length > 0) {
      if (this.size === 0) return this.#giveUp(this.#waiting.splice(0));
      const [least] = this.#running.filter(({ isReady }) => isReady)
        .sort((a, b) => a.tasks.size - b.tasks.size);
      if (least === undefined || least.tasks.size >= BATCHES_PER_WORKER) return;
      const task = this.#waiting.shift()!;
      const id = ++this.#lastId;
      least.tasks.set(id, task);
      const { bytes, places, keys } = task.texts;
      least.worker.postMessage({ id, bytes, places, keys }, [
        bytes.buffer,
        places.buffer,
      ]);
    }
  }

  #end(each: RunningWorker): void {
    each.worker.terminate();
    this.#running = this.#running.filter((other) => other !== each);
    this.#giveUp([...each.tasks.values()]);
    each.tasks.clear();
    if (this.size === 0) this.#giveUp(this.#waiting.splice(0));
  }

  #giveUp(tasks: readonly Task[]): void {
    for (const { resolve } of tasks) resolve(undefined);
  }
}
