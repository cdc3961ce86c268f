/** A feed's bytes, verified and replayed while they stream (PROTOCOL §2–§4). @module */

import {
  claimedSequence,
  createFeedLineParser,
  decodeBase64UrlStrict,
  DEFAULT_LIMITS,
  type ErrorContext,
  type FeedLineParser,
  type FeedState,
  instantOf,
  isObject,
  isSigError,
  type Limits,
  type ParsedEnvelope,
  parseEventPayload,
  Replay,
  SigError,
  type SigEvent,
  type UnknownEvent,
  type Warning,
} from "@sig/core";
import { type KeyResolver, verifyEnvelope } from "@sig/jose";
import { FeedDigest } from "./feed_digest.ts";
import { LineSplitter } from "./line_splitter.ts";

/** What a reader decides about feeds that others wrote. */
export interface FeedPolicy {
  /** Events of a type that v0.1 does not know; `reject` unless told. */
  readonly unknownEvents?: "ignore" | "reject" | undefined;
  /** A revoke without an earlier upsert; `ignore` unless told. */
  readonly unmatchedRevoke?: "ignore" | "reject" | undefined;
  /** Size limits; core's defaults unless told. */
  readonly limits?: Limits | undefined;
}

/** Options of {@linkcode verifyFeed}. */
export interface VerifyFeedOptions extends FeedPolicy {
  /** The issuer that every event must name. */
  readonly issuer: string;
  /** The keys that may sign. */
  readonly keys: KeyResolver;
  /** The metadata says that the feed holds public events only. */
  readonly publicOnly: boolean;
  /** The clock, for the warning `issued_at_future`. */
  readonly now: Date;
  /**
   * Faults to collect before giving up. The first one is thrown unless this is
   * set; `maxFaults: 100` answers with all of them in `faults` instead.
   */
  readonly maxFaults?: number | undefined;
  /**
   * Gets the keys anew, once, when a line names a key that isn't known: the
   * issuer may have added it after the keys were read.
   */
  readonly refreshKeys?: (() => Promise<KeyResolver>) | undefined;
  /** Digest the bytes too; off unless told, since few need it. */
  readonly digest?: boolean | undefined;
  /** Told of each verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
}

/** An event whose signature and rules were verified. */
export interface VerifiedEvent {
  /** The event. */
  readonly event: SigEvent | UnknownEvent;
  /** The key that signed it. */
  readonly kid: string;
  /** Its line, from 1. */
  readonly line: number;
}

/** Which events a key signed. */
export interface KeyUse {
  /** The key. */
  readonly kid: string;
  /** How many events. */
  readonly events: number;
  /** The first of them. */
  readonly first_sequence: number;
  /** The last of them. */
  readonly last_sequence: number;
}

/** What came of verifying a feed. */
export interface VerifiedFeed {
  /** The state after the last event; of no use when there are faults. */
  readonly state: FeedState;
  /** Events verified. */
  readonly verifiedEvents: number;
  /** Bytes read. */
  readonly bytes: number;
  /** SHA-256 of all bytes, hexadecimal; only with `digest`. */
  readonly sha256?: string;
  /** The keys that signed, in the order of their first event. */
  readonly keys: readonly KeyUse[];
  /** What was odd; the first 1,000. */
  readonly warnings: readonly Warning[];
  /** What was wrong; empty unless `maxFaults` is set. */
  readonly faults: readonly SigError[];
}

/**
 * Verifies every line of a feed and replays it, holding one chunk at a time.
 *
 * @example An empty feed is valid
 * ```ts
 * import { verifyFeed } from "@sig/consumer";
 * import { createKeyResolver } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const verified = await verifyFeed([], {
 *   issuer: "did:web:acme.example",
 *   keys: await createKeyResolver({ keys: [] }),
 *   publicOnly: true,
 *   now: new Date("2026-01-01T00:00:00Z"),
 * });
 * assertEquals(verified.verifiedEvents, 0);
 * ```
 *
 * @throws {SigError} the first fault with its line, sequence and kid: the
 * codes of `parseFeedLine`, `verifyEnvelope`, `parseEventPayload` and `replay`,
 * and `incomplete_line`. With `maxFaults` only `feed_too_large`,
 * `too_many_events` and what reading the bytes can run into.
 */
export async function verifyFeed(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: VerifyFeedOptions,
): Promise<VerifiedFeed> {
  const run = new Verification(options);
  const limits = options.limits ?? DEFAULT_LIMITS;
  const splitter = new LineSplitter(limits.maxLineBytes);
  const digest = options.digest ? new FeedDigest() : undefined;
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > limits.maxFeedBytes) throw feedTooLarge(limits.maxFeedBytes);
    digest?.update(chunk);
    for (const line of splitter.push(chunk)) {
      // Only a promise is awaited: with a synchronous verifier a feed costs
      // no turn of the event loop per line.
      const pending = run.take(line.bytes, line.tooLong);
      if (pending !== undefined) await pending;
    }
    if (run.full) break;
  }
  if (splitter.hasRest && !run.full) run.noteIncompleteLine();
  return {
    ...run.result(),
    bytes: length,
    ...(digest ? { sha256: await digest.hex() } : {}),
  };
}

function feedTooLarge(limit: number): SigError {
  return new SigError(
    "feed_too_large",
    `Cannot read feed: it is larger than ${limit} bytes`,
    { context: { limit } },
  );
}

/** A verification in progress, line by line. */
class Verification {
  readonly #options: VerifyFeedOptions;
  readonly #limits: Limits;
  readonly #parse: FeedLineParser;
  readonly #replay: Replay;
  readonly #keyUse = new Map<
    string,
    { -readonly [K in keyof KeyUse]: KeyUse[K] }
  >();
  readonly #faults: SigError[] = [];
  #keys: KeyResolver;
  #refreshed = false;
  #line = 0;
  #verified = 0;
  /** Faulty lines since the last good one, each of which may be an event. */
  #unread = 0;

  constructor(options: VerifyFeedOptions) {
    const limits = options.limits ?? DEFAULT_LIMITS;
    this.#options = options;
    this.#limits = limits;
    this.#keys = options.keys;
    this.#parse = createFeedLineParser({ limits });
    this.#replay = new Replay({
      issuer: options.issuer,
      now: instantOf(options.now),
      limits,
      unmatchedRevoke: options.unmatchedRevoke ?? "ignore",
    });
  }

  /** Whether as many faults are found as were asked for. */
  get full(): boolean {
    return this.#faults.length > 0 &&
      this.#faults.length >= (this.#options.maxFaults ?? 1);
  }

  /** Takes the next line; a promise only where the verifier gives one. */
  take(bytes: Uint8Array, tooLong: boolean): Promise<void> | undefined {
    if (this.full) return undefined;
    this.#line++;
    let parsed: ParsedEnvelope | undefined;
    let signedBy: ReturnType<typeof verifyEnvelope>;
    try {
      if (tooLong) throw lineTooLong(this.#limits.maxLineBytes);
      parsed = this.#parse(bytes);
      signedBy = verifyEnvelope(parsed, this.#keys);
    } catch (error) {
      if (parsed !== undefined && this.#mayRefresh(error)) {
        return this.#retry(parsed);
      }
      this.#note(
        error,
        parsed?.header.kid,
        parsed?.payload ?? payloadOf(bytes),
      );
      return undefined;
    }
    const line = parsed;
    if (signedBy instanceof Promise) {
      return signedBy.then(
        () => this.#apply(line),
        (error) => this.#note(error, line.header.kid, line.payload),
      );
    }
    this.#apply(line);
    return undefined;
  }

  #mayRefresh(error: unknown): boolean {
    return !this.#refreshed && this.#options.refreshKeys !== undefined &&
      (isSigError(error, "key_not_found") ||
        isSigError(error, "key_not_authorized"));
  }

  async #retry(parsed: ParsedEnvelope): Promise<void> {
    this.#refreshed = true;
    this.#keys = await this.#options.refreshKeys!();
    try {
      await verifyEnvelope(parsed, this.#keys);
    } catch (error) {
      return this.#note(error, parsed.header.kid, parsed.payload);
    }
    this.#apply(parsed);
  }

  /** After the signature: payload, fields, issuer, sequence, event_id. */
  #apply({ header, payload }: ParsedEnvelope): void {
    let event: SigEvent | UnknownEvent;
    try {
      event = parseEventPayload(payload, {
        publicOnly: this.#options.publicOnly,
        unknownEvents: this.#options.unknownEvents ?? "reject",
      });
      this.#resync(event.sequence);
      this.#replay.apply(event, this.#line);
    } catch (error) {
      return this.#note(error, header.kid, payload);
    }
    this.#unread = 0;
    this.#verified++;
    this.#count(header.kid, event.sequence);
    // Outside of the try: what it throws is no fault of the feed.
    this.#options.onEvent?.({ event, kid: header.kid, line: this.#line });
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

  noteIncompleteLine(): void {
    this.#line++;
    this.#note(
      new SigError(
        "incomplete_line",
        "Cannot read feed line: the last line must end in LF",
        {
          context: {
            hint: "The feed was cut off, or its issuer is writing: try again.",
          },
        },
      ),
    );
  }

  /** Throws the fault with its place, or keeps it and goes on. */
  #note(error: unknown, kid?: string, payload?: Uint8Array): void {
    if (!isFault(error)) throw error;
    const claimed = payload && claimedSequence(payload);
    const fault = located(error, {
      line: this.#line,
      sequence: claimed ?? this.#replay.lastSequence + 1 + this.#unread,
      ...(kid === undefined ? {} : { kid }),
    });
    if (this.#options.maxFaults === undefined) throw fault;
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
   * Goes on behind faulty lines, so that each is reported once: nobody knows
   * which of them took a sequence (a blank line does not, a forged event does),
   * so the next good event may have any of those.
   */
  #resync(sequence: number): void {
    const ahead = sequence - (this.#replay.lastSequence + 1);
    if (ahead > 0 && ahead <= this.#unread) this.#replay.resume(sequence - 1);
  }

  result(): Omit<VerifiedFeed, "bytes" | "sha256"> {
    return {
      state: this.#replay.state(),
      verifiedEvents: this.#verified,
      keys: [...this.#keyUse.values()],
      warnings: this.#replay.warnings,
      faults: this.#faults,
    };
  }
}

/** The payload of a line that was refused, for naming its place only. */
function payloadOf(line: Uint8Array): Uint8Array | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(line));
    const payload = isObject(value) ? value.payload : undefined;
    return typeof payload === "string"
      ? decodeBase64UrlStrict(payload)
      : undefined;
  } catch {
    return undefined;
  }
}

function lineTooLong(limit: number): SigError {
  return new SigError(
    "line_too_long",
    `Cannot read feed line: it is longer than ${limit} bytes`,
    { context: { limit } },
  );
}

/**
 * Whether an error says that what was published is wrong, and not that it could
 * not be read (INTERFACES §2, exit codes).
 */
export function isFault(error: unknown): error is SigError {
  return isSigError(error) &&
    (error.category === "invalid" || error.category === "conflict" ||
      error.code === "line_too_long");
}

/** The error with its place in the feed, and one beginning for all messages. */
function located(error: SigError, place: ErrorContext): SigError {
  const why = error.message.slice(error.message.indexOf(": ") + 2);
  return new SigError(error.code, `Cannot verify feed: ${why}`, {
    context: { ...error.context, ...place },
    cause: error,
  });
}
