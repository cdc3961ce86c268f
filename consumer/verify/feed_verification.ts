/**
 * Verifies a feed line by line, and can continue when the feed has grown
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
  type ReplayStart,
  type SigError,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { claimedSequence, joinBytes } from "@sig/core/internal";
import { type VerificationKey, verifyEnvelope } from "@sig/jose/keys";
import {
  feedTooLarge,
  incompleteLine,
  isFault,
  lineTooLong,
  located,
} from "./feed_fault.ts";
import { type FeedLine, LineSplitter } from "../read/line_splitter.ts";
import { SignatureQueue, SignatureWorkers } from "./signature_workers.ts";
import type { FeedTree } from "../proofs/feed_tree.ts";
import type {
  FeedPolicy,
  KeyUse,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verified_feed.ts";

/** Lines between two yields to the event loop: some milliseconds. */
const LINES_PER_YIELD = 128;

/** The same for long lines, whose bytes cost more than their signatures. */
const BYTES_PER_YIELD = 256 * 1024;

const LF = new Uint8Array([0x0a]);

/** What holds from a feed's first byte to its last. */
export interface FeedVerificationOptions
  extends
    FeedPolicy,
    Pick<VerifyFeedOptions, "issuer" | "publicOnly" | "keepOnly"> {
  /** Called with each verified line; its bytes are valid until it returns. */
  readonly onLine?:
    | ((bytes: Uint8Array, event: SigEvent | UnknownEvent) => void)
    | undefined;
  /** Takes each verified line too; continues where `start` ends. */
  readonly tree?: FeedTree | undefined;
  /** Where another verification ended, to continue from. */
  readonly start?: VerificationStart | undefined;
}

/** Where a verification stopped, at the end of a line, with no fault. */
export interface VerificationStart {
  /** Bytes that were read. */
  readonly bytes: number;
  /** The last event's `event_id`. */
  readonly lastEventId: string | null;
  /** As {@linkcode FeedVerification.overlap}. */
  readonly overlap: Uint8Array;
  /** The keys that signed. */
  readonly keys: readonly KeyUse[];
  /** The events. */
  readonly replay: ReplayStart;
}

/** What holds for one reading. */
export type ReadFeedOptions = Omit<
  VerifyFeedOptions,
  keyof FeedVerificationOptions | "digest"
>;

/** A verification in progress, line by line, over one reading or several. */
export class FeedVerification {
  /** The trees over what was verified, where they are wanted. */
  readonly tree: FeedTree | undefined;
  readonly #policy: FeedVerificationOptions;
  readonly #limits: Limits;
  readonly #parse: FeedLineParser;
  readonly #replay: Replay;
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
  /** Faulty lines since the last good one, each of which may be an event. */
  #unread = 0;
  #linesSinceYield = 0;
  #bytesSinceYield = 0;

  constructor(options: FeedVerificationOptions) {
    const limits = options.limits ?? DEFAULT_LIMITS;
    const now = () => this.#now;
    this.#policy = options;
    this.tree = options.tree;
    this.#limits = limits;
    this.#parse = createFeedLineParser({ limits });
    const { start } = options;
    this.#replay = new Replay({
      issuer: options.issuer,
      // A later reading has a later clock.
      get now() {
        return now();
      },
      limits,
      unmatchedRevoke: options.unmatchedRevoke ?? "ignore",
      keepOnly: options.keepOnly,
    }, start?.replay);
    if (start === undefined) return;
    this.#bytes = start.bytes;
    this.#line = this.#verified = start.replay.lastSequence;
    this.#lastEventId = start.lastEventId;
    this.#overlap = start.overlap;
    for (const use of start.keys) this.#keyUse.set(use.kid, { ...use });
  }

  /** Where it is now, for another verification to continue from. */
  checkpoint(): VerificationStart {
    return {
      bytes: this.#bytes,
      lastEventId: this.#lastEventId,
      overlap: this.#overlap,
      keys: Array.from(this.#keyUse.values(), (use) => ({ ...use })),
      replay: this.#replay.checkpoint(),
    };
  }

  /**
   * Whether every reading ended well. A fault or a broken connection in the
   * middle leaves events applied that must not be relied upon: then the feed must
   * be verified from its start. States handed out before stay right.
   */
  get isIntact(): boolean {
    return this.#isIntact;
  }

  /** Events so far. */
  get events(): number {
    return this.#verified;
  }

  /** The last event's `event_id`. */
  get lastEventId(): string | null {
    return this.#lastEventId;
  }

  /**
   * The last line with its LF, which bytes that continue the feed must repeat:
   * its signature proves that they follow the same event.
   */
  get overlap(): Uint8Array {
    return this.#overlap;
  }

  /** Kids that signed so far. */
  get kids(): Iterable<string> {
    return this.#keyUse.keys();
  }

  /**
   * Continues with the next bytes, from the start of a line to the feed's end.
   *
   * @throws {SigError} as `verifyFeed`.
   */
  async read(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: ReadFeedOptions,
  ): Promise<void> {
    if (!this.#isIntact) {
      throw new TypeError("Cannot continue: the verification broke off");
    }
    this.#isIntact = false;
    this.#reading = options;
    this.#now = instantOf(options.now);
    this.#faults = [];
    const before = this.#verified;
    const splitter = new LineSplitter(this.#limits.maxLineBytes);
    const queue = new SignatureQueue(options.workers ?? new SignatureWorkers());
    try {
      // Not in a server, where a sender could announce much and send little.
      if (options.yieldToEventLoop === undefined) {
        queue.joinFor(options.expectedBytes ?? 0);
      }
      const broken = await this.#readLines(bytes, splitter, queue);
      // What was read before it broke is judged first, as without workers.
      await this.#judgeAll(queue);
      if (broken !== undefined && !this.#isFull) throw broken.error;
    } finally {
      queue.end();
    }
    if (splitter.hasRest && !this.#isFull) {
      this.#line++;
      this.#note(incompleteLine());
    }
    this.#isIntact = this.#faults.length === 0;
    if (this.#verified > before) {
      this.#overlap = joinBytes(
        [this.#lineBytes, LF],
        this.#lineBytes.length + 1,
      );
    }
  }

  /** Reads to the end, until it is enough, or to where reading fails. */
  async #readLines(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    splitter: LineSplitter,
    queue: SignatureQueue,
  ): Promise<Broken | undefined> {
    const { maxFeedBytes } = this.#limits;
    for await (const chunk of untilBroken(bytes)) {
      if ("error" in chunk) return chunk;
      this.#bytes += chunk.length;
      if (this.#bytes > maxFeedBytes) {
        return { error: feedTooLarge(maxFeedBytes) };
      }
      queue.note(chunk.length);
      for (const line of splitter.push(chunk)) {
        // Only a promise is awaited: with a synchronous verifier a feed costs
        // no turn of the event loop per line.
        const pending = this.#takeLine(line, queue);
        if (pending !== undefined) await pending;
        // The rest of a chunk may be millions of lines.
        if (this.#isFull) return undefined;
        const turn = this.#yieldAfter(line.bytes.length, queue);
        if (turn !== undefined) await turn;
      }
      // The memory of the chunk may be used again.
      if (!queue.isOpen) this.#lineBytes = this.#lineBytes.slice();
      queue.sendIfIdle();
      while (queue.isAnswered && !this.#isFull) await this.#judgeNext(queue);
      if (this.#isFull) return undefined;
    }
    return undefined;
  }

  /** Lets others have a turn now and then; workers that start need one too. */
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

  /** Judges a line, or queues it until a worker has looked at its signature. */
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
      // Lines before it may have faults of their own.
      if (!queue.hasLines) return this.#refuse(fault);
      return this.#judgeAll(queue).then(() => this.#refuse(fault));
    }
    if (!queue.isOpen) {
      this.#lineBytes = bytes;
      return this.#judge(parsed);
    }
    queue.add(bytes, parsed, this.#keyOf(parsed));
    return queue.isFull ? this.#judgeNext(queue) : undefined;
  }

  /** Notes the fault of a line that can't be parsed, or is too long. */
  #refuse(fault: unknown): undefined {
    if (this.#isFull) return;
    this.#line++;
    this.#note(fault ?? lineTooLong(this.#line, this.#limits.maxLineBytes));
  }

  /** Undefined for a key that is not known yet, or may not sign. */
  #keyOf({ header }: ParsedEnvelope): VerificationKey | undefined {
    try {
      return this.#reading!.keys.resolve(header.kid);
    } catch {
      return undefined;
    }
  }

  async #judgeAll(queue: SignatureQueue): Promise<void> {
    while (queue.hasLines && !this.#isFull) await this.#judgeNext(queue);
  }

  async #judgeNext(queue: SignatureQueue): Promise<void> {
    for (const { bytes, parsed, isProven } of await queue.next()) {
      this.#lineBytes = bytes;
      const pending = this.#judge(parsed, isProven);
      if (pending !== undefined) await pending;
      if (this.#isFull) return;
      const turn = this.#yieldAfter(bytes.length, queue);
      if (turn !== undefined) await turn;
    }
  }

  /** The fault of bytes that would follow and don't end in LF; nothing changes. */
  incompleteLineAfter(lines: number): SigError {
    const line = this.#line + lines + 1;
    return located(incompleteLine(), {
      line,
      sequence: this.events + lines + 1,
    });
  }

  /** The result so far; unchanged when the verification continues. */
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

  /** Whether as many faults are found as were asked for. */
  get #isFull(): boolean {
    return this.#faults.length > 0 &&
      this.#faults.length >= (this.#reading?.maxFaults ?? 1);
  }

  /**
   * The signature, and all that comes after it; a promise only where the
   * verifier gives one. A worker's verdict saves verifying a signature again;
   * faults are found here.
   */
  #judge(parsed: ParsedEnvelope, isProven = false): Promise<void> | undefined {
    this.#line++;
    const { kid } = parsed.header;
    let signedBy: ReturnType<typeof verifyEnvelope> | undefined;
    try {
      if (!isProven) signedBy = verifyEnvelope(parsed, this.#reading!.keys);
    } catch (error) {
      this.#note(error, kid, parsed.payload);
      return undefined;
    }
    if (signedBy instanceof Promise) {
      return signedBy.then(
        () => this.#apply(parsed),
        (error) => this.#note(error, kid, parsed.payload),
      );
    }
    this.#apply(parsed);
    return undefined;
  }

  /** After the signature: payload, fields, issuer, sequence, event_id. */
  #apply({ header, payload }: ParsedEnvelope): void {
    let event: SigEvent | UnknownEvent;
    try {
      event = parseEventPayload(payload, {
        publicOnly: this.#policy.publicOnly,
        unknownEvents: this.#policy.unknownEvents ?? "reject",
      });
      this.#resync(event.sequence);
      this.#replay.apply(event, this.#line);
    } catch (error) {
      return this.#note(error, header.kid, payload);
    }
    this.#unread = 0;
    this.#verified++;
    this.#lastEventId = event.event_id;
    this.#count(header.kid, event.sequence);
    this.#policy.onLine?.(this.#lineBytes, event);
    this.tree?.add(this.#lineBytes, event);
    // Outside of the try: what it throws is not a fault of the feed.
    this.#reading?.onEvent?.({ event, kid: header.kid, line: this.#line });
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

  /** Throws the fault with its place, or keeps it and continues. */
  #note(error: unknown, kid?: string, payload?: Uint8Array): void {
    if (!isFault(error)) throw error;
    const claimed = payload && claimedSequence(payload);
    const fault = located(error, {
      line: this.#line,
      sequence: claimed ?? this.#replay.lastSequence + 1 + this.#unread,
      ...(kid === undefined ? {} : { kid }),
    });
    if (this.#reading?.maxFaults === undefined) throw fault;
    this.#faults.push(fault);
    if (error.code === "sequence_gap" && claimed !== undefined) {
      // The claim is signed: the events between are missing, once.
      this.#replay.resume(claimed);
      this.#unread = 0;
    } else {
      this.#unread++;
    }
  }

  /**
   * Continues after faulty lines, so that each is reported once: it is not known
   * which of them took a sequence (a blank line does not, a forged event does),
   * so the next good event may have any of those.
   */
  #resync(sequence: number): void {
    const ahead = sequence - (this.#replay.lastSequence + 1);
    if (ahead > 0 && ahead <= this.#unread) this.#replay.resume(sequence - 1);
  }
}

/** Where reading failed. */
interface Broken {
  readonly error: unknown;
}

/** The chunks, then the error if reading them failed. */
async function* untilBroken(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array | Broken> {
  try {
    yield* bytes;
  } catch (error) {
    yield { error };
  }
}

/**
 * One turn of the event loop, by `setImmediate` where it exists: a timer takes at
 * least a millisecond, in which this thread does nothing.
 */
export function yieldToEventLoop(): Promise<void> {
  const { setImmediate = setTimeout } = globalThis as {
    readonly setImmediate?: (callback: () => void) => unknown;
  };
  return new Promise((resolve) => void setImmediate(resolve));
}
