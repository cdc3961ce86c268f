/** Fetches the published feed of an issuer. @module */

import { type LoadedIssuer, openSource, verifyFeed } from "@sig/consumer";
import { loadIssuer } from "@sig/consumer/internal";
import { SigError } from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import type { Call } from "../command_line/command.ts";
import { withSource } from "../ask/source_flags.ts";
import { counted } from "../output/write.ts";
import type { IssuerValues } from "./flags.ts";

/**
 * Fetches and verifies the feed of a source, which must have the same issuer as
 * `--dir`.
 *
 * @throws {SigError} `issuer_mismatch`, and the errors of reading a source: an
 * unreachable source never counts as agreement.
 */
export async function readPublishedFeed(
  call: Call<IssuerValues>,
  source: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const directory = { kind: "directory", path: call.flags.dir } as const;
  const own = await loadIssuer(openSource(directory));
  return await withSource(call, source, async (location, options) => {
    const published = await loadIssuer(location);
    const { issuer, keys, metadata, openFeed } = published;
    if (issuer !== own.issuer) {
      throw new SigError("issuer_mismatch", {
        action: "compare feeds",
        reason: "the source is of another issuer than the directory",
        context: { expected: own.issuer, found: issuer },
      });
    }
    requireStatements(own, published);
    const { document } = await openFeed();
    const chunks: Uint8Array[] = [];
    let events = 0;
    async function* kept(): AsyncGenerator<Uint8Array> {
      let bytes = 0;
      for await (const chunk of document.bytes) {
        // A reader may reuse its buffer.
        chunks.push(chunk.slice());
        bytes += chunk.length;
        options.onProgress?.(bytes, { events, totalBytes: document.length });
        yield chunk;
      }
    }
    try {
      await verifyFeed(kept(), {
        issuer,
        keys,
        publicOnly: metadata.public_only,
        now: options.now,
        onEvent: () => events++,
        // Only the bytes are compared; the state is not needed.
        keepOnly: null,
        expectedBytes: document.length,
      });
    } finally {
      await document.cancel();
    }
    return joinBytes(chunks);
  });
}

/**
 * Refuses a directory without the last statements of its own recovery keys,
 * such as an old backup, or with another statement of the same number: both
 * would split readers for good. A statement needs the recovery key, so that the
 * published ones are the issuer's.
 */
function requireStatements(own: LoadedIssuer, published: LoadedIssuer): void {
  const here = own.recovery?.member;
  const there = published.recovery?.member;
  if (here === undefined || here.commitment !== there?.commitment) return;
  const [known, found] = [here.statements, there.statements];
  const at = found.findIndex((text, i) => text !== known[i]);
  if (at < 0) return;
  const isOther = at < known.length;
  throw new SigError("recovery_contradicted", {
    action: "compare feeds",
    reason: isOther
      ? `statement ${at + 1} of recovery keys in the directory is not the ` +
        "published one"
      : `the published sig.json has ${
        counted(found.length, "statement")
      } of recovery keys, and the one in the directory ${known.length}`,
    context: {
      hint: "Nothing was written. " +
        (isOther ? "Never publish this directory: readers refuse it. " : "") +
        "Copy the published sig.json, jwks.json and did.json into the directory first.",
    },
  });
}
