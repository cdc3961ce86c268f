/** A body that is counted while it is read. @module */

import { fetchError } from "./fetch_error.ts";
import type { GuardedFetchOptions } from "./fetch_options.ts";
import type { NetworkBudget } from "./network_budget.ts";
import { tooLarge } from "./response_rules.ts";
import type { TransportResponse } from "./transport.ts";

/** What reading a body takes. */
export interface CountedBodyOptions {
  /** Where the bytes come from; closed at the end, whichever it is. */
  readonly response: TransportResponse;
  /** For the errors. */
  readonly url: URL;
  /** More bytes than these are an error. */
  readonly maxBytes: number;
  /** The code of that error. */
  readonly tooLargeCode: GuardedFetchOptions["tooLargeCode"];
  /** Bytes that must come, neither fewer nor more. */
  readonly expectedLength?: number;
  /** Pays for each wait. */
  readonly budget: NetworkBudget;
  /** Turns a transport's error into one of ours. */
  readonly fail: (error: unknown) => unknown;
}

/** The chunks of a body, to be iterated once. */
export function createCountedBody(
  options: CountedBodyOptions,
): AsyncIterable<Uint8Array> {
  let isTaken = false;
  return {
    [Symbol.asyncIterator]() {
      if (isTaken) throw new TypeError("Cannot read a body twice");
      isTaken = true;
      return readChunks(options);
    },
  };
}

async function* readChunks(
  options: CountedBodyOptions,
): AsyncGenerator<Uint8Array> {
  const { response, url, maxBytes, expectedLength, budget, fail } = options;
  let length = 0;
  try {
    while (expectedLength !== 0) {
      const chunk = await budget.wait(response.read());
      if (chunk === undefined) break;
      length += chunk.length;
      if (length > maxBytes) {
        throw tooLarge(url, maxBytes, options.tooLargeCode);
      }
      if (chunk.length > 0) yield chunk;
    }
    if (expectedLength !== undefined && length !== expectedLength) {
      const why = `the body has ${length} of ${expectedLength} bytes`;
      throw fetchError("fetch_failed", url, why, { kind: "closed" });
    }
  } catch (error) {
    throw fail(error);
  } finally {
    await response.close();
  }
}
