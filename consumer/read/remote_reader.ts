/** Documents from an issuer's own server. @module */

import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";
import { ACCEPT } from "../fetch/media_type.ts";
import { type DocumentReader, tooLargeCode } from "./reader.ts";

/**
 * Makes a reader that gets each document with {@linkcode guardedFetch}, under
 * one policy.
 *
 * @example An injected server
 * ```ts
 * import { createRemoteReader } from "./remote_reader.ts";
 * import { readAll } from "./reader.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const reader = createRemoteReader({
 *   fetch: () => Promise.resolve(Response.json({ keys: [] })),
 * });
 * const doc = await reader.open("https://acme.example/.well-known/jwks.json", {
 *   name: "jwks",
 *   maxBytes: 262_144,
 * });
 * const bytes = await readAll(doc, 262_144);
 * assertEquals(new TextDecoder().decode(bytes), '{"keys":[]}');
 * ```
 *
 * @throws {SigError} from `open`: as {@linkcode guardedFetch}.
 */
export function createRemoteReader(policy: FetchPolicy = {}): DocumentReader {
  return {
    kind: "remote",
    async open(ref, { name, maxBytes, conditions, signal }) {
      const fetched = await guardedFetch(ref, {
        ...policy,
        ...(signal === undefined ? {} : { signal: either(policy, signal) }),
        maxBytes,
        tooLargeCode: tooLargeCode(name),
        accept: ACCEPT[name],
        ...(conditions === undefined ? {} : { headers: conditions }),
      });
      return {
        bytes: fetched.body,
        mediaType: fetched.mediaType,
        etag: fetched.etag,
        unchanged: fetched.status === 304,
        length: fetched.length,
        ...(fetched.contentRange === undefined
          ? {}
          : { range: fetched.contentRange }),
        cancel: fetched.cancel,
      };
    },
  };
}

function either({ signal }: FetchPolicy, other: AbortSignal): AbortSignal {
  return signal === undefined ? other : AbortSignal.any([signal, other]);
}
