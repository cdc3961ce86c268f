/** Waiting for an issuer, but not for long. @module */

import { SigError } from "@sig/core";

/** Milliseconds that who has logged in waits for the issuer. */
export const PATIENCE_MS = 3_000;

/** What the work gives. @throws {SigError} `fetch_timeout` when it takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(new SigError("fetch_timeout", "Cannot ask issuer: it is slow")),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
