/** The feed of an issuer as it is published. @module */

import { loadIssuer, openSource, verifyFeed } from "@sig/consumer";
import { SigError } from "@sig/core";
import type { Call } from "../command_line/command.ts";
import { withSource } from "../ask/source_flags.ts";

/**
 * The verified bytes of the feed that a source publishes, which must be of the
 * issuer of `--dir`.
 *
 * @throws {SigError} `issuer_mismatch`, and what a source can run into: that
 * it could not be asked is never taken for agreement.
 */
export async function readPublishedFeed(
  call: Call,
  source: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const directory = { kind: "directory", path: call.text("dir")! } as const;
  const { issuer: expected } = await loadIssuer(openSource(directory));
  return await withSource(call, source, async (location, options) => {
    const { issuer, keys, metadata, openFeed } = await loadIssuer(location);
    if (issuer !== expected) {
      throw new SigError(
        "issuer_mismatch",
        "Cannot compare feeds: the source is of another issuer than the directory",
        { context: { expected, found: issuer } },
      );
    }
    const { document } = await openFeed();
    const kept = new KeptBytes(document.length);
    let events = 0;
    const onBytes = (bytes: number) =>
      options.onProgress?.(bytes, { events, totalBytes: document.length });
    try {
      await verifyFeed(keeping(document.bytes, kept, onBytes), {
        issuer,
        keys,
        publicOnly: metadata.public_only,
        now: options.now,
        onEvent: () => events++,
        // Its bytes are compared, its state with nothing.
        keepOnly: null,
        expectedBytes: document.length,
      });
    } finally {
      await document.cancel();
    }
    return kept.bytes;
  });
}

/** Bytes for a feed of which nobody said how long it is. */
const FIRST_BYTES = 1024 * 1024;

const MAX_EXPECTED_BYTES = 256 * 1024 * 1024;

/** Bytes that come one after the other, held once. */
class KeptBytes {
  #room: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(expected: number | undefined) {
    this.#room = new Uint8Array(
      // What a server says only spares copying: no more than this on its word.
      Math.min(expected ?? FIRST_BYTES, MAX_EXPECTED_BYTES),
    );
  }

  /** How many there are. */
  get length(): number {
    return this.#length;
  }

  /** All of them. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#room.subarray(0, this.#length);
  }

  /** Takes a copy. */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#room.length) {
      const larger = new Uint8Array(
        Math.max(length, Math.ceil(this.#room.length * 1.5)),
      );
      larger.set(this.bytes);
      this.#room = larger;
    }
    this.#room.set(chunk, this.#length);
    this.#length = length;
  }
}

async function* keeping(
  bytes: AsyncIterable<Uint8Array>,
  kept: KeptBytes,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    kept.add(chunk);
    onBytes(kept.length);
    yield chunk;
  }
}
