/** An issuer's documents over HTTP. @module */

import { send, type ServiceEnv } from "@sig/api/http";
import type { Context } from "hono";
import { SigError } from "@sig/core";

/** The media type of an issuer's document, by its name or path. */
export function mediaTypeOf(name: string): string {
  return name.endsWith(".jsonl") ? "application/x-ndjson" : "application/json";
}

/**
 * Answers with a document.
 *
 * @param text Undefined for one that does not exist.
 * @throws {SigError} `not_found`
 */
export function replyDocument(
  c: Context<ServiceEnv>,
  name: string,
  text: string | undefined,
): Response {
  if (text !== undefined) {
    return send(c, text, mediaTypeOf(name));
  }
  throw new SigError(
    "not_found",
    "Cannot answer: there is no such document",
  );
}
