/** A feed large enough for workers, and its outcome with and without workers. @module */

import { isSigError } from "@sig/core";
import { createKeyResolver, type KeyResolver } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import {
  DID,
  feedOf,
  importTestKeys,
  lineOf,
  NOW,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import {
  SignatureWorkers,
  type SignedMessage,
} from "../verify/signature_workers.ts";
import { verifyFeed } from "../verify/verify_feed.ts";
import type { VerifyFeedOptions } from "../verify/verified_feed.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

const [key1] = await importTestKeys();

/** Resolves the key of the feed. */
export const keys: KeyResolver = await createKeyResolver({
  keys: [key1.publicJwk],
});

/** Signature workers without any worker. */
export const ALONE: SignatureWorkers = new SignatureWorkers({ maxWorkers: 0 });

/** Number of long lines at the start, which make the feed large early. */
const LONG_LINES = 60;
/** Number of lines of the feed. */
export const LINES = 300;

/** The lines of the valid feed, signed once because signing is slow. */
export const good: readonly string[] = await Promise.all(
  Array.from({ length: LINES }, (_, i) => {
    const pad = i < LONG_LINES ? "x".repeat(30_000) : "";
    return lineOf(upsert(i + 1, { metadata: { pad } }), key1);
  }),
);
/** Index of a line at two thirds of the feed, many batches from both ends. */
export const AT = 200;

/** Returns the feed with other lines from {@linkcode AT} on. */
export function withLines(
  ...lines: readonly (string | Uint8Array)[]
): Uint8Array {
  return joined([
    feedOf(good.slice(0, AT)),
    ...lines.map((line) => typeof line === "string" ? feedOf([line]) : line),
    feedOf(good.slice(AT + lines.length)),
  ]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Counts the batches given to the workers, and those that they answered. */
export class CountedWorkers extends SignatureWorkers {
  batches = 0;
  answered = 0;

  override async verify(
    batch: readonly SignedMessage[],
  ): Promise<Uint8Array | undefined> {
    this.batches++;
    const verdicts = await super.verify(batch);
    if (verdicts !== undefined) this.answered++;
    return verdicts;
  }
}

/** Yields the bytes in chunks, and waits until the workers have started. */
export async function* chunksFor(
  workers: SignatureWorkers,
  bytes: Uint8Array,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.slice(at, at + 65_536);
    await waitUntil("workers started", () => !workers.isStarting);
  }
}

/** Returns everything that a caller sees of a verification. */
export async function outcome(
  bytes: (workers: SignatureWorkers) => AsyncIterable<Uint8Array>,
  workers: SignatureWorkers,
  options: Partial<VerifyFeedOptions>,
) {
  const events: unknown[] = [];
  const describe = (error: unknown) => {
    if (!isSigError(error)) throw error;
    const { code, message, context } = error;
    return { code, message, context };
  };
  try {
    const { state, faults, bytes: _, ...rest } = await verifyFeed(
      bytes(workers),
      {
        issuer: DID,
        keys,
        publicOnly: true,
        now: NOW,
        digest: true,
        workers,
        onEvent: ({ event, ...place }) => events.push([event.event_id, place]),
        ...options,
      },
    );
    const { by_relationship_id: relationships, last_sequence } = state;
    // After a fault, the number of bytes read depends on timing.
    const sha256 = faults.length > 0 ? undefined : rest.sha256;
    return {
      ...{ ...rest, sha256, events, last_sequence },
      relationships: [...relationships],
      faults: faults.map(describe),
    };
  } catch (error) {
    return { thrown: describe(error), events };
  }
}

/**
 * Returns the outcome with workers, after asserting that it equals the outcome
 * without.
 *
 * @param workers Running workers, which stay (default: new ones, which end).
 */
export async function sameOutcome(
  bytes:
    | Uint8Array
    | ((workers: SignatureWorkers) => AsyncIterable<Uint8Array>),
  options: () => Partial<VerifyFeedOptions> = () => ({}),
  workers = new CountedWorkers({ maxWorkers: 2 }),
) {
  const source = bytes instanceof Uint8Array
    ? (workers: SignatureWorkers) => chunksFor(workers, bytes)
    : bytes;
  const { answered, size } = workers;
  const parallel = await outcome(source, workers, options());
  assert(workers.answered > answered);
  assertEquals(workers.size, size);
  const alone = await outcome(source, ALONE, options());
  assertEquals(parallel, alone);
  return parallel;
}
