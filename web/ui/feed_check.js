// @ts-check
/// <reference lib="dom" />
/** Verifying documents here, by the libraries' own code. @module */

import { DocumentsError } from "./documents.js";
import { hasEd25519 } from "./ed25519_support.js";
import { replay, reportIssuer, SigError } from "./verify.js";

/** @typedef {import("./verify.js").VerifiedEvent} VerifiedEvent */
/** @typedef {import("./verify.js").FeedState} FeedState */
/** @typedef {import("./verify.js").VerifyReport} VerifyReport */

/**
 * @typedef {object} CheckedFeed
 * @property {VerifyReport} report
 * @property {readonly VerifiedEvent[]} events In the feed's order.
 * @property {FeedState | undefined} state Undefined when the feed is not valid.
 */

/**
 * Reads and verifies the feed of an issuer that the server knows; again, for
 * some seconds, while it ends before `minSequence`.
 *
 * @typedef {(did: string, minSequence?: number) => Promise<CheckedFeed | undefined>} ReadFeed
 */

/** Small enough that the page stays responsive between two chunks. */
const CHUNK_BYTES = 64 * 1024;

/**
 * @param {import("./documents.js").Documents} documents
 * @param {{ expectedIssuer?: string, onProgress?: (share: number) => void }} [options]
 * @returns {Promise<CheckedFeed>}
 * @throws {DocumentsError} When this browser can't verify.
 * @throws {SigError} For what could not be read or is over a limit.
 */
export async function checkFeed(documents, options = {}) {
  const { expectedIssuer, onProgress } = options;
  if (!await hasEd25519()) {
    throw new DocumentsError(
      "This browser can't verify Ed25519 signatures. A newer version can.",
    );
  }
  const now = new Date();
  /** @type {VerifiedEvent[]} */
  const events = [];
  const report = await reportIssuer(
    {
      reader: readerOf(documents, onProgress),
      metadataRef: "/.well-known/sig.json",
      expectedIssuer,
    },
    { now, onEvent: (verified) => events.push(verified) },
  );
  if (!report.valid) return { report, events, state: undefined };
  const { state } = replay(events.map(({ event }) => event), {
    issuer: report.issuer,
  });
  return { report, events, state };
}

/**
 * @param {import("./documents.js").Documents} documents
 * @param {((share: number) => void) | undefined} onProgress
 * @returns {import("./verify.js").DocumentReader}
 */
function readerOf(documents, onProgress) {
  return {
    kind: "inline",
    open(_ref, { name, maxBytes }) {
      const bytes = documents[name];
      if (bytes === undefined) {
        return Promise.reject(
          new SigError(
            "source_not_found",
            `Cannot read ${name}: it is absent`,
            {
              context: { reason: "missing" },
            },
          ),
        );
      }
      if (bytes.length > maxBytes) {
        return Promise.reject(
          new SigError(
            name === "feed" ? "feed_too_large" : "document_too_large",
            `Cannot read ${name}: it is larger than ${maxBytes} bytes`,
          ),
        );
      }
      return Promise.resolve({
        bytes: chunksOf(bytes, name === "feed" ? onProgress : undefined),
        mediaType: null,
        etag: null,
        cancel() {},
      });
    },
  };
}

/**
 * @param {Uint8Array} bytes
 * @param {((share: number) => void) | undefined} onProgress
 */
async function* chunksOf(bytes, onProgress) {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    onProgress?.(at / bytes.length);
    if (at > 0) await new Promise((resolve) => setTimeout(resolve));
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
  onProgress?.(1);
}
