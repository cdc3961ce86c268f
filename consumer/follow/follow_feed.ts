/** Verifying a feed so that a later fetch can go on from it (PROTOCOL §6). @module */

import {
  DEFAULT_LIMITS,
  type GrowingHistory,
  joinBytes,
  type Limits,
  sameBytes,
} from "@sig/core";
import { ByteStream, LastBytes } from "../read/byte_stream.ts";
import { FeedDigest } from "../verify/feed_digest.ts";
import {
  FeedVerification,
  type FeedVerificationOptions,
  type ReadFeedOptions,
  type VerificationStart,
} from "../verify/feed_verification.ts";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import type { HeldFeed } from "./issuer_record.ts";
import type { KeyResolver } from "@sig/jose";
import type { FeedGrowth } from "../pins/feed_growth.ts";
import { inPieces, type OpenedDocument } from "../read/reader.ts";
import type { Sha256 } from "../pins/sha256.ts";
import type { StagedFeed } from "../pins/staged_feed.ts";
import { SignatureMarks } from "../verify/signature_marks.ts";

/**
 * Bytes that a tail must repeat of what is known: the end of the last line,
 * with its signature. It proves that the tail goes on from the same event.
 */
const OVERLAP_BYTES = 1024;

/**
 * A tail up to this size is got whole before any of it counts: a connection
 * that breaks, or an issuer that is just writing, then costs no verification
 * from the start.
 */
const MAX_TAKEN_BYTES = 1024 * 1024;

/** Bytes digested between two breaths. */
const BYTES_PER_BREATH = 1024 * 1024;

const LF = 0x0a;

/**
 * Bytes of a tail that are verified in one step where a store has the rest:
 * what they add is written at once.
 */
const STEP_BYTES = 64 * 1024;

/** How a feed is followed. */
export interface FollowFeedOptions extends ReadFeedOptions {
  /** Makes digests that can be put aside; others are faster. */
  readonly createDigest?: (() => FeedDigest) | undefined;
  /** Size limits; core's defaults unless told. */
  readonly limits?: Limits | undefined;
  /** Takes what a feed says that is read from its start. */
  readonly staged?: StagedFeed | undefined;
}

/** The part of a {@linkcode HeldFeed} that grows with the feed. */
export type FollowedFeed =
  & Pick<HeldFeed, "verification" | "digest" | "marks" | "overlap">
  & {
    /** SHA-256 of the whole feed. */
    readonly sha256: string;
    /** The keys that its last line was verified with. */
    readonly keys: KeyResolver;
  };

/** A feed read from its start. */
export interface FeedFromStart extends FollowedFeed {
  /** SHA-256 of its first bytes; undefined when it has fewer. */
  readonly prefixSha256: string | undefined;
}

/** Where a tail begins: so that it repeats the overlap. */
export function tailStart(held: HeldFeed, pin: IssuerPin): number {
  return pin.bytes - held.overlap.length;
}

/**
 * Goes on from a known feed with what was fetched: the whole feed, or its tail
 * from {@linkcode tailStart} on. Known bytes are compared, only new ones are
 * verified. Undefined when they are not the known bytes: then nothing changed,
 * and the feed is to be read from its start.
 *
 * @throws {SigError} as `verifyFeed`, and what reading can run into.
 */
export async function goOn(
  held: HeldFeed,
  pin: IssuerPin,
  document: OpenedDocument,
  options: FollowFeedOptions,
): Promise<FollowedFeed | undefined> {
  const stream = new ByteStream(document.bytes);
  const digest = document.range === undefined
    ? await digestPrefix(stream, pin, options)
    : await compareOverlap(stream, held);
  if (digest === undefined) return undefined;
  const last = new LastBytes(OVERLAP_BYTES, held.overlap);
  const { verification, marks } = held;
  const first = await stream.take(MAX_TAKEN_BYTES);
  if (first.length < MAX_TAKEN_BYTES && first.length > 0) {
    if (first.at(-1) !== LF) {
      throw verification.incompleteLineAfter(lines(first));
    }
  }
  const rest = chain(first, stream);
  const keys = first.length === 0
    ? options.keys
    : held.growth === undefined
    ? await verification.read(followed(rest, digest, last), options)
    : await readInSteps(held, held.growth, rest, { digest, last }, options);
  return await grown(verification, digest, marks, last, keys);
}

/** Verifies a tail piece by piece, with what a store has of before. */
async function readInSteps(
  { verification }: HeldFeed,
  growth: FeedGrowth,
  tail: AsyncIterable<Uint8Array>,
  { digest, last }: { readonly digest: FeedDigest; readonly last: LastBytes },
  options: FollowFeedOptions,
): Promise<KeyResolver> {
  const { maxLineBytes } = options.limits ?? DEFAULT_LIMITS;
  let { keys } = options;
  for await (const lines of wholeLines(tail, maxLineBytes)) {
    await growth.before(verification, lines);
    keys = await verification.read(
      followed(inPieces(lines), digest, last),
      { ...options, keys },
    );
    if (!verification.isIntact) return keys;
    growth.step(verification, {
      sha256: await digest.hex(),
      hash: (digest.hash as Sha256).save(),
      overlap: last.bytes,
    });
  }
  return keys;
}

/** The same bytes, in steps that end behind a line; the last one may not. */
async function* wholeLines(
  bytes: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LF, from + Math.max(0, STEP_BYTES - length));
      if (end < 0) break;
      kept.push(chunk.slice(from, end + 1));
      yield joinBytes(kept, length + end + 1 - from);
      kept = [];
      length = 0;
      from = end + 1;
    }
    kept.push(chunk.slice(from));
    length += chunk.length - from;
    // A line that is too long is told so by its beginning.
    if (length > STEP_BYTES + maxLineBytes) break;
  }
  if (length > 0) yield joinBytes(kept, length);
}

/** A digest of the known bytes, if the stream begins with them. */
async function digestPrefix(
  stream: ByteStream,
  pin: IssuerPin,
  { breathe, createDigest }: FollowFeedOptions,
): Promise<FeedDigest | undefined> {
  const digest = createDigest?.() ?? new FeedDigest(0);
  let left = pin.bytes;
  let sinceBreath = 0;
  while (left > 0) {
    const chunk = await stream.next(left);
    if (chunk === undefined) return undefined;
    digest.update(chunk);
    left -= chunk.length;
    sinceBreath += chunk.length;
    if (breathe !== undefined && sinceBreath >= BYTES_PER_BREATH) {
      sinceBreath = 0;
      await breathe();
    }
  }
  return await digest.hex() === pin.prefix_sha256 ? digest : undefined;
}

async function compareOverlap(
  stream: ByteStream,
  { overlap, digest }: HeldFeed,
): Promise<FeedDigest | undefined> {
  return sameBytes(await stream.take(overlap.length), overlap)
    ? digest
    : undefined;
}

/**
 * Reads and verifies a feed from its first byte.
 *
 * @param prefixBytes After how many bytes to digest what was read so far.
 * @throws {SigError} as `verifyFeed`, and what reading can run into.
 */
export async function readFromStart(
  document: OpenedDocument,
  policy: FeedVerificationOptions,
  options: FollowFeedOptions,
  prefixBytes: number | undefined,
): Promise<FeedFromStart> {
  const digest = options.createDigest?.() ?? new FeedDigest(0);
  const marks = new SignatureMarks();
  const last = new LastBytes(OVERLAP_BYTES);
  const { staged } = options;
  const history = await staged?.begin(marks);
  const verification = new FeedVerification({
    ...policy,
    marks,
    start: history && startOf(history),
  });
  const stream = new ByteStream(document.bytes);
  let prefixSha256: string | undefined;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    let left = prefixBytes ?? 0;
    while (left > 0) {
      const chunk = await stream.next(left);
      if (chunk === undefined) return;
      left -= chunk.length;
      yield chunk;
    }
    // Everything before was digested when the reader asked for more.
    prefixSha256 = prefixBytes === undefined ? undefined : await digest.hex();
    yield* stream.rest();
  }
  const read = followed(bytes(), digest, last);
  const isFaulty = () => verification.result().faults.length > 0;
  const keys = await verification.read(
    staged === undefined ? read : withPauses(read, staged, isFaulty),
    { ...options, expectedBytes: document.length },
  );
  const feed = await grown(verification, digest, marks, last, keys);
  return { ...feed, prefixSha256 };
}

/** Before the first event, with what takes all of them. */
function startOf(history: GrowingHistory): VerificationStart {
  return {
    bytes: 0,
    lastEventId: null,
    keys: [],
    replay: {
      lastSequence: 0,
      latest: undefined,
      history,
      warnings: [],
      warningsLeftOut: 0,
    },
  };
}

/** Whoever asks for the next bytes judges nothing meanwhile. */
async function* withPauses(
  bytes: AsyncIterable<Uint8Array>,
  staged: StagedFeed,
  isFaulty: () => boolean,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    yield chunk;
    await staged.pause(chunk.length, isFaulty);
  }
}

async function grown(
  verification: FeedVerification,
  digest: FeedDigest,
  marks: SignatureMarks,
  last: LastBytes,
  keys: KeyResolver,
): Promise<FollowedFeed> {
  return {
    verification,
    digest: digest.keepsBytes ? undefined : digest,
    marks,
    overlap: last.bytes,
    sha256: await digest.hex(),
    keys,
  };
}

async function* followed(
  bytes: AsyncIterable<Uint8Array>,
  digest: FeedDigest,
  last: LastBytes,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of digest.follow(bytes)) {
    last.update(chunk);
    yield chunk;
  }
}

async function* chain(
  first: Uint8Array,
  stream: ByteStream,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* stream.rest();
}

function lines(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === LF) count++;
  return count;
}
