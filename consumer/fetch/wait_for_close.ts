/** Waiting for what is being closed, but not for ever. @module */

/** What closes does so at once; this only keeps a bug from hanging us. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Waits until it is closed, a second at most. Never rejects. */
export async function waitForClose(closing: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, CLOSE_TIMEOUT_MS);
  await Promise.race([closing.catch(() => {}), over.promise]);
  clearTimeout(timer);
}
