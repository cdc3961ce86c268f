/** The feed of an issuer as it is published. @module */

import { loadIssuer, openSource, verifyFeed } from "@sig/consumer";
import { SigError } from "@sig/core";
import type { Call } from "../command_line/command.ts";
import { issuerDir } from "../issue/issuer_dir.ts";
import { withSource } from "./source_flags.ts";

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
  const directory = { kind: "directory", path: issuerDir(call) } as const;
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
    const kept: Uint8Array<ArrayBuffer>[] = [];
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
      });
    } finally {
      await document.cancel();
    }
    return new Uint8Array(await new Blob(kept).arrayBuffer());
  });
}

async function* keeping(
  bytes: AsyncIterable<Uint8Array>,
  kept: Uint8Array<ArrayBuffer>[],
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of bytes) {
    kept.push(chunk.slice());
    onBytes(read += chunk.length);
    yield chunk;
  }
}
