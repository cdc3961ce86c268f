/**
 * Verifies a feed line by line, and can continue after the feed has grown
 * (docs/protocol.md §2.6, §4).
 *
 * @module
 */

import {
  createFeedLineParser,
  DEFAULT_LIMITS,
  type FeedLineParser,
  type Instant,
  instantOf,
  type Limits,
  type ParsedEnvelope,
  parseEventPayload,
  Replay,
  type SigError,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { claimedSequence, joinBytes } from "@sig/core/internal";
import {
  isVoidEvent,
  type VerificationKey,
  verifyEnvelope,
} from "@sig/jose/keys";
import {
  feedTooLarge,
  incompleteLine,
  isFault,
  lineTooLong,
  located,
} from "./feed_fault.ts";
import { type FeedLine, LineSplitter } from "../read/line_splitter.ts";
import type { StatementRoots } from "./statement_roots.ts";
import { SignatureQueue, SignatureWorkers } from "./signature_workers.ts";
import type { FeedTree } from "../proofs/feed_tree.ts";
import type {
  FeedPolicy,
  KeyUse,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verified_feed.ts";

/** Number of lines between two yields to the event loop: some milliseconds. */
const LINES_PER_YIELD = 128;

/** Number of bytes between two yields, for long lines. */
const BYTES_PER_YIELD = 256 * 1024;

const LF = new Uint8Array([0x0a]);

interface FeedVerificationOptions extends
  FeedPolicy,
  Pick<
    VerifyFeedOptions,
    "issuer" | "publicOnly" | "keepOnly" | "recovery"
  > {
  /** Also receives each line. */
  readonly tree?: FeedTree | undefined;
}

/** Options that apply to one call of `read`. */
type ReadFeedOptions = Omit<
  VerifyFeedOptions,
  keyof FeedVerificationOptions | "digest"
>;

/** A verification in progress, line by line, in one or several readings. */
export class FeedVerification {
  readonly tree: FeedTree | undefined;
  readonly #policy: FeedVerificationOptions;
  readonly #limits: Limits;
  readonly #parse: FeedLineParser;
  readonly #replay: Replay;
  #roots: StatementRoots | undefined;
  readonly #keyUse = new Map<
    string,
    { -readonly [K in keyof KeyUse]: KeyUse[K] }
  >();
  #reading: ReadFeedOptions | undefined;
  #now: Instant = { seconds: 0, nanoseconds: 0 };
  #faults: SigError[] = [];
  #isIntact = true;
  #bytes = 0;
  #line = 0;
  #verified = 0;
  #lineBytes: Uint8Array = new Uint8Array();
  #lastEventId: string | null = null;
  #overlap: Uint8Array = new Uint8Array();
  /** Number of faulty lines since the last valid one. Each may be an event. */
  #faultyLines = 0;
  #linesSinceYield = 0;
  #bytesSinceYield = 0;

  constructor(options: FeedVerificationOptions) {
    const limits = options.limits ?? DEFAULT_LIMITS;
    const now = () => this.#now;
    this.#policy = options;
    this.tree = options.tree;
    this.#limits = limits;
    this.#parse = createFeedLineParser({ limits });
    this.#replay = new Replay({
      issuer: options.issuer,
      // Each reading has a later clock.
      get now() {
        return now();
      },
      limits,
      unmatchedRevoke: options.unmatchedRevoke ?? "ignore",
      keepOnly: options.keepOnly,
    });
  }

  /**
   * Whether every reading completed. After a fault or a broken connection, some
   * of the applied events may not be used, so the feed must be verified from
   * its start. States that were returned before remain valid.
   */
  get isIntact(): boolean {
    return this.#isIntact;
  }

  get events(): number {
    return this.#verified;
  }

  /** The `event_id` of the last event. */
  get lastEventId(): string | null {
    return this.#lastEventId;
  }

  /**
   * The last line with its LF. Bytes that continue the feed must repeat it: its
   * signature proves that they follow the same event.
   */
  get overlap(): Uint8Array {
    return this.#overlap;
  }

  get kids(): Iterable<string> {
    return this.#keyUse.keys();
  }

  /**
   * Continues with the next bytes, from the start of a line to the end of the
   * feed.
   *
   * @throws {SigError} as `verifyFeed`.
   */
  async read(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: ReadFeedOptions,
  ): Promise<void> {
    if (!this.#isIntact) {
      throw new TypeError("Cannot continue: the verification has failed");
    }
    this.#isIntact = false;
    const { recovery } = this.#policy;
    if (recovery?.keys && this.#roots === undefined) {
      const { StatementRoots } = await import("./statement_roots.ts");
      this.#roots = new StatementRoots(recovery, this.tree?.lines);
    }
    this.#reading = options;
    this.#now = instantOf(options.now);
    this.#faults = [];
    const before = this.#verified;
    const splitter = new LineSplitter(this.#limits.maxLineBytes);
    const queue = new SignatureQueue(options.workers ?? new SignatureWorkers());
    try {
      // Not in a server, where a sender could announce a large feed and send
      // little.
      if (options.yieldToEventLoop === undefined) {
        queue.joinFor(options.expectedBytes ?? 0);
      }
      const broken = await this.#readLines(bytes, splitter, queue);
      // Lines that were read before the failure are verified first, as without
      // workers.
      await this.#processQueue(queue);
      if (broken !== undefined && !this.#isFull) throw broken.error;
    } finally {
      queue.end();
    }
    if (splitter.hasRest && !this.#isFull) {
      this.#line++;
      this.#recordFault(incompleteLine());
    }
    if (this.#faults.length === 0) this.#roots?.requireAll();
    this.#isIntact = this.#faults.length === 0;
    if (this.#verified > before) {
      this.#overlap = joinBytes(
        [this.#lineBytes, LF],
        this.#lineBytes.length + 1,
      );
    }
  }

  /**
   * Reads to the end, until the maximum number of faults, or until reading
   * fails.
   */
  async #readLines(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    splitter: LineSplitter,
    queue: SignatureQueue,
  ): Promise<ReadFailure | undefined> {
    const { maxFeedBytes } = this.#limits;
    for await (const chunk of untilError(bytes)) {
      if ("error" in chunk) return chunk;
      this.#bytes += chunk.length;
      if (this.#bytes > maxFeedBytes) {
        return { error: feedTooLarge(maxFeedBytes) };
      }
      queue.countBytes(chunk.length);
      for (const line of splitter.push(chunk)) {
        // Awaiting only promises avoids a turn of the event loop per line if
        // the verifier is synchronous.
        const pending = this.#takeLine(line, queue);
        if (pending !== undefined) await pending;
        // The rest of the chunk may contain millions of lines.
        if (this.#isFull) return undefined;
        const turn = this.#yieldAfter(line.bytes.length, queue);
        if (turn !== undefined) await turn;
      }
      // The chunk's memory may be reused.
      if (!queue.isOpen) this.#lineBytes = this.#lineBytes.slice();
      queue.sendIfIdle();
      while (queue.isAnswered && !this.#isFull) await this.#processNext(queue);
      if (this.#isFull) return undefined;
    }
    return undefined;
  }

  /** Also for workers that are starting. */
  #yieldAfter(
    bytes: number,
    queue: SignatureQueue,
  ): Promise<void> | undefined {
    this.#linesSinceYield++;
    this.#bytesSinceYield += bytes;
    if (
      this.#linesSinceYield < LINES_PER_YIELD &&
      this.#bytesSinceYield < BYTES_PER_YIELD
    ) return undefined;
    this.#linesSinceYield = this.#bytesSinceYield = 0;
    if (this.#reading?.yieldToEventLoop !== undefined) {
      return this.#reading.yieldToEventLoop();
    }
    return queue.isStarting ? yieldToEventLoop() : undefined;
  }

  /** Verifies a line, or queues it until a worker has checked its signature. */
  #takeLine(
    { bytes, tooLong }: FeedLine,
    queue: SignatureQueue,
  ): Promise<void> | undefined {
    let parsed: ParsedEnvelope | undefined;
    let fault: unknown;
    try {
      if (!tooLong) parsed = this.#parse(bytes);
    } catch (error) {
      fault = error;
    }
    if (parsed === undefined) {
      // Earlier lines may have faults too, which must be reported first.
      if (!queue.hasLines) return this.#refuse(fault);
      return this.#processQueue(queue).then(() => this.#refuse(fault));
    }
    if (!queue.isOpen) {
      this.#lineBytes = bytes;
      return this.#verifyLine(parsed);
    }
    queue.add(bytes, parsed, this.#keyOf(parsed));
    return queue.isFull ? this.#processNext(queue) : undefined;
  }

  /** Records the fault of a line that can't be parsed, or is too long. */
  #refuse(fault: unknown): undefined {
    if (this.#isFull) return;
    this.#line++;
    this.#recordFault(
      fault ?? lineTooLong(this.#line, this.#limits.maxLineBytes),
    );
  }

  /** Returns undefined for a key that is unknown or may not sign. */
  #keyOf({ header }: ParsedEnvelope): VerificationKey | undefined {
    try {
      return this.#reading!.keys.resolve(header.kid);
    } catch {
      return undefined;
    }
  }

  async #processQueue(queue: SignatureQueue): Promise<void> {
    while (queue.hasLines && !this.#isFull) await this.#processNext(queue);
  }

  async #processNext(queue: SignatureQueue): Promise<void> {
    for (const { bytes, parsed, isProven } of await queue.next()) {
      this.#lineBytes = bytes;
      const pending = this.#verifyLine(parsed, isProven);
      if (pending !== undefined) await pending;
      if (this.#isFull) return;
      const turn = this.#yieldAfter(bytes.length, queue);
      if (turn !== undefined) await turn;
    }
  }

  /**
   * The fault of a tail that doesn't end in LF, after `lines` complete lines;
   * changes nothing.
   */
  incompleteLineAfter(lines: number): SigError {
    const line = this.#line + lines + 1;
    return located(incompleteLine(), {
      line,
      sequence: this.events + lines + 1,
    });
  }

  /**
   * Returns the result so far, which does not change when the verification
   * continues.
   */
  result(): Omit<VerifiedFeed, "sha256"> {
    return {
      state: this.#replay.state(),
      verifiedEvents: this.#verified,
      bytes: this.#bytes,
      keys: Array.from(this.#keyUse.values(), (use) => ({ ...use })),
      warnings: [...this.#replay.warnings],
      faults: this.#faults,
    };
  }

  get #isFull(): boolean {
    return this.#faults.length > 0 &&
      this.#faults.length >= (this.#reading?.maxFaults ?? 1);
  }

  /**
   * Verifies the signature and everything after it. Returns a promise only if
   * the verifier does. A worker's positive result replaces verifying the
   * signature; faults are always found here.
   */
  #verifyLine(
    parsed: ParsedEnvelope,
    isProven = false,
  ): Promise<void> | undefined {
    this.#line++;
    const { kid } = parsed.header;
    let signedBy: ReturnType<typeof verifyEnvelope> | undefined;
    try {
      if (!isProven) signedBy = verifyEnvelope(parsed, this.#reading!.keys);
    } catch (error) {
      this.#recordFault(error, kid, parsed.payload);
      return undefined;
    }
    if (signedBy instanceof Promise) {
      return signedBy.then(
        () => this.#apply(parsed),
        (error) => this.#recordFault(error, kid, parsed.payload),
      );
    }
    this.#apply(parsed);
    return undefined;
  }

  /** Checks payload, fields, issuer, sequence and event_id. */
  #apply({ header, payload }: ParsedEnvelope): void {
    let event: SigEvent | UnknownEvent;
    let isVoid: boolean;
    try {
      event = parseEventPayload(payload, {
        publicOnly: this.#policy.publicOnly,
        unknownEvents: this.#policy.unknownEvents ?? "reject",
      });
      this.#resync(event.sequence);
      const { keys } = this.#reading!;
      isVoid = isVoidEvent(keys, header.kid, event.sequence);
      this.#replay.apply(event, this.#line, isVoid);
      this.tree?.add(this.#lineBytes, event, isVoid);
      this.#roots?.add(this.#lineBytes);
    } catch (error) {
      return this.#recordFault(error, header.kid, payload);
    }
    this.#faultyLines = 0;
    this.#verified++;
    this.#lastEventId = event.event_id;
    this.#count(header.kid, event.sequence);
    // Outside the try: an error of the callback is not a fault of the feed.
    this.#reading?.onEvent?.({
      event,
      kid: header.kid,
      line: this.#line,
      isVoid,
    });
  }

  #count(kid: string, sequence: number): void {
    const use = this.#keyUse.get(kid);
    if (use === undefined) {
      this.#keyUse.set(kid, {
        kid,
        events: 1,
        first_sequence: sequence,
        last_sequence: sequence,
      });
    } else {
      use.events++;
      use.last_sequence = sequence;
    }
  }

  /** Throws the fault with its place, or records it and continues. */
  #recordFault(error: unknown, kid?: string, payload?: Uint8Array): void {
    if (!isFault(error)) throw error;
    const claimed = payload && claimedSequence(payload);
    const fault = located(error, {
      line: this.#line,
      sequence: claimed ?? this.#replay.lastSequence + 1 + this.#faultyLines,
      ...(kid === undefined ? {} : { kid }),
    });
    if (this.#reading?.maxFaults === undefined) throw fault;
    this.#faults.push(fault);
    if (error.code === "sequence_gap" && claimed !== undefined) {
      // The claimed sequence is signed: the missing events are reported once.
      this.#replay.resume(claimed);
      this.#faultyLines = 0;
    } else {
      this.#faultyLines++;
    }
  }

  /**
   * Continues after faulty lines, so that each is reported once. It is unknown
   * which of them took a sequence (a blank line does not, a forged event does),
   * so the next valid event may have any of those.
   */
  #resync(sequence: number): void {
    const ahead = sequence - (this.#replay.lastSequence + 1);
    if (ahead > 0 && ahead <= this.#faultyLines) {
      this.#replay.resume(sequence - 1);
    }
  }
}

interface ReadFailure {
  readonly error: unknown;
}

/** Yields the chunks, then the error if reading them failed. */
async function* untilError(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array | ReadFailure> {
  try {
    yield* bytes;
  } catch (error) {
    yield { error };
  }
}

/**
 * Waits for one turn of the event loop, with `setImmediate` if it exists: a
 * timer takes at least a millisecond.
 */
export function yieldToEventLoop(): Promise<void> {
  const { setImmediate = setTimeout } = globalThis as {
    readonly setImmediate?: (callback: () => void) => unknown;
  };
  return new Promise((resolve) => void setImmediate(resolve));
}
