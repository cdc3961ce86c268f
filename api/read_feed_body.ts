/** Bodies that may carry a feed. @module */

import type { Exchange } from "./http/mod.ts";
import { MAX_FEED_BODY_BYTES } from "./routes/operation.ts";

/** Bytes that are parsed in a few milliseconds. */
const SMALL_BODY_BYTES = 256 * 1024;

/**
 * The body as strict JSON. Large ones are taken in one a turn of the event
 * loop: parsing 20 of them in one go would keep others waiting for as long.
 *
 * @throws {SigError} as `exchange.readJson`.
 */
export function readFeedBody(
  exchange: Exchange,
  breathe: () => Promise<void>,
): Promise<unknown> {
  const told = exchange.request.headers.get("content-length");
  const read = () => exchange.readJson(MAX_FEED_BODY_BYTES);
  return told !== null && Number(told) <= SMALL_BODY_BYTES
    ? read()
    : breathe().then(read);
}
