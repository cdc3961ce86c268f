/** Workers that verify signatures beside the thread that reads. @module */

import { loadBuiltin } from "@sig/jose";
import {
  createLineVerifier,
  type LineVerifier,
  READY,
  signatureWorkerUrl,
  type SignedBatch,
  type SignedLines,
  type WorkerCrypto,
} from "./signature_worker.ts";

/**
 * Batches that a worker holds: one in work, and enough at hand for the time
 * that the reading thread takes for a batch of its own and for judging. More
 * would be missing there: the reading thread then waits with nothing to do.
 */
export const BATCHES_PER_WORKER = 3;

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

/** What workers will say about a batch. */
export interface PendingVerdicts {
  /**
   * Whether they have come to an end with it. That is known at once, and
   * without a turn of the event loop: a thread that verifies too would hear of
   * it too late to give them more.
   */
  readonly isAnswered: boolean;
  /** A verdict for each line; undefined when no worker came to one. */
  verdicts(): Promise<Uint8Array | undefined>;
}

class Task implements PendingVerdicts {
  readonly lines: SignedLines;
  readonly #answer: Uint8Array<SharedArrayBuffer>;
  readonly #verdicts = Promise.withResolvers<Uint8Array | undefined>();
  #isOver = false;

  constructor(lines: SignedLines) {
    this.lines = lines;
    const memory = new SharedArrayBuffer(1 + lines.ends.length);
    this.#answer = new Uint8Array(memory);
  }

  get isAnswered(): boolean {
    return this.#isOver || Atomics.load(this.#answer, 0) === 1;
  }

  verdicts(): Promise<Uint8Array | undefined> {
    if (this.isAnswered) this.end();
    return this.#verdicts.promise;
  }

  /** No worker will say more. */
  end(): void {
    const isComplete = Atomics.load(this.#answer, 0) === 1;
    this.#isOver = true;
    this.#verdicts.resolve(isComplete ? this.#answer.subarray(1) : undefined);
  }

  /** To a worker. */
  post(worker: Worker, id: number): void {
    const { bytes, ends, headers } = this.lines;
    const batch: SignedBatch = {
      id,
      answer: this.#answer,
      bytes,
      ends,
      headers,
    };
    worker.postMessage(batch);
  }
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
  #verifier: LineVerifier | undefined;

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
      this.#running.some((each) =>
        each.isReady && inHand(each) < BATCHES_PER_WORKER
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

  /** Verifies a batch, whose bytes stay as they are until there are verdicts. */
  verify(lines: SignedLines): PendingVerdicts {
    const task = new Task(lines);
    this.#waiting.push(task);
    this.#hand();
    return task;
  }

  /** The same in this thread, which does nothing else meanwhile. */
  verifyHere(lines: SignedLines): Uint8Array | undefined {
    const crypto = loadWorkerCrypto();
    if (crypto === undefined) return undefined;
    this.#verifier ??= createLineVerifier(crypto);
    return this.#verifier(lines);
  }

  #start(): void {
    if (typeof Worker !== "function") return;
    if (typeof SharedArrayBuffer !== "function") return;
    if (loadWorkerCrypto() === undefined) return;
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
      else {
        each.tasks.get(data as number)?.end();
        each.tasks.delete(data as number);
      }
      this.#hand();
    };
  }

  /** Gives waiting batches to workers, the least busy one first. */
  #hand(): void {
    while (this.#waiting.length > 0) {
      if (this.size === 0) return this.#giveUp(this.#waiting.splice(0));
      const [least] = this.#running.filter(({ isReady }) => isReady)
        .sort((a, b) => inHand(a) - inHand(b));
      if (least === undefined || inHand(least) >= BATCHES_PER_WORKER) return;
      const task = this.#waiting.shift()!;
      const id = ++this.#lastId;
      least.tasks.set(id, task);
      task.post(least.worker, id);
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
    for (const task of tasks) task.end();
  }
}

/** Batches that a worker has not come to an end with. */
function inHand({ tasks }: RunningWorker): number {
  // In the order in which they were given, and are answered.
  for (const [id, task] of tasks) {
    if (!task.isAnswered) break;
    task.end();
    tasks.delete(id);
  }
  return tasks.size;
}

function loadWorkerCrypto(): WorkerCrypto | undefined {
  return loadBuiltin("node:crypto") as WorkerCrypto | undefined;
}
