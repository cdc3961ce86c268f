import { assertEquals } from "@std/assert";
import { DEFAULT_LIMITS, type Limits } from "@sig/core";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { QUESTION, watchIssuer } from "../../tests/kit/watched_issuer.ts";
import type { ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";

const [key] = await importTestKeys();
const few: Limits = { ...DEFAULT_LIMITS, maxEvents: 3 };
const tooMany = (n: number) =>
  ["too_many_events", `more than ${n} events`] as const;

/**
 * Runs a test with an issuer of 12 events, of which 5 are published and
 * remembered.
 */
async function withRemembered(
  work: (issuer: {
    /**
     * Publishes the first `n` events, and returns the last sequence that a
     * question with these limits sees.
     */
    ask(n: number, options: Partial<ConsumerOptions>): Promise<number>;
    /** Features of the server. */
    readonly server: { etags: boolean; ranges: boolean };
    readonly lineBytes: number;
  }) => Promise<void>,
): Promise<void> {
  await using file = await openPinFile();
  const { pins } = file;
  await using issuer = await watchIssuer(12, key, { pins, maxAgeMs: 0 });
  const { did, server, lines, publish } = issuer;
  publish(lines.slice(0, 5));
  await issuer.check();
  await work({
    server,
    lineBytes: lines[0]!.length + 1,
    async ask(n, options) {
      publish(lines.slice(0, n));
      const consumer = createConsumer({
        ...{ issuers: [did], allowPrivate: true, maxAgeMs: 0, pins },
        ...options,
      });
      return (await consumer.check(did, QUESTION)).last_sequence;
    },
  });
}

Deno.test("limits apply only to the new events of a remembered feed", async () => {
  await withRemembered(async ({ ask, server, lineBytes }) => {
    const small = { ...few, maxFeedBytes: 5 * lineBytes };
    const options = { limits: small, rememberedLimits: DEFAULT_LIMITS };
    assertEquals(await ask(5, options), 5);
    assertEquals(await ask(8, options), 8);
    await expectSigError(() => ask(12, options), ...tooMany(11));
    // The same applies if the whole feed is transferred again.
    server.etags = server.ranges = false;
    assertEquals(await ask(10, options), 10);
    const least = { ...DEFAULT_LIMITS, maxEvents: 11 };
    await expectSigError(
      () => ask(12, { limits: small, rememberedLimits: least }),
      ...tooMany(11),
    );
  });
});

Deno.test("limits apply to a feed verified from its start, and without rememberedLimits", async () => {
  await withRemembered(async ({ ask }) => {
    const options = { limits: few, rememberedLimits: DEFAULT_LIMITS };
    await expectSigError(
      () => ask(5, { ...options, full: true }),
      ...tooMany(3),
    );
    await expectSigError(() => ask(6, { limits: few }), ...tooMany(3));
    // A feed shorter than the pin is verified from its start.
    await expectSigError(() => ask(4, options), ...tooMany(3));
  });
});
