import { assertEquals } from "@std/assert";
import type { ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { startRawServer, untilClosed } from "../../tests/kit/raw_server.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { QUESTION, watchIssuer } from "../../tests/kit/watched_issuer.ts";

// promise: A silent issuer delays a question by one time limit, and other
//   issuers not at all.

const [key1] = await importTestKeys();

/**
 * Starts an issuer that accepts connections and never responds, and a consumer
 * of it.
 */
function setUp(options: Partial<ConsumerOptions>) {
  const asked = Promise.withResolvers<void>();
  const server = startRawServer(async (connection) => {
    asked.resolve();
    await untilClosed(connection);
  });
  const did = `did:web:127.0.0.1%3A${server.port}`;
  const consumer = createConsumer({
    issuers: [did],
    allowPrivate: true,
    ...options,
  });
  return {
    ...{ server, did, consumer, asked: asked.promise },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

Deno.test("questions that arrive during a refresh of a silent issuer wait for one timeout", async () => {
  await using setup = setUp({ totalTimeoutMs: 300 });
  const { consumer, did, server } = setup;
  const first = consumer.check(did, QUESTION).catch((error) => error);
  await setup.asked;
  const others = [
    () => consumer.check(did, { ...QUESTION, maxAgeMs: 0 }),
    () => consumer.check(did, { ...QUESTION, minSequence: 1 }),
    () => consumer.verify(did),
    () => consumer.report(did),
    () => consumer.state(did),
  ];
  await Promise.all(
    others.map((ask) =>
      expectSigError(ask, "fetch_timeout", "the answer took more than 300 ms")
    ),
  );
  assertEquals((await first).code, "fetch_timeout");
  assertEquals(server.connections(), 1);
  // The failure is not remembered.
  await expectSigError(
    () => consumer.verify(did),
    "fetch_timeout",
    "the answer took more than 300 ms",
  );
  assertEquals(server.connections(), 2);
});

Deno.test("too many questions about a silent issuer are rejected; other issuers are not affected", async () => {
  await using watched = await watchIssuer(1, key1);
  const good = watched.server.did;
  const stop = new AbortController();
  const { signal } = stop;
  await using setup = setUp({ anyIssuer: true, maxWaiting: 2, signal });
  const { consumer, did } = setup;
  const waiting = [consumer.state(did), consumer.verify(did)]
    .map((work) => work.catch((error) => error));
  await setup.asked;
  for (const ask of [() => consumer.state(did), () => consumer.report(did)]) {
    await expectSigError(
      ask,
      "overloaded",
      "Cannot ask issuer: too many questions wait for its answer already",
    );
  }
  assertEquals((await consumer.state(good)).last_sequence, 1);
  stop.abort("enough");
  assertEquals(await Promise.all(waiting), ["enough", "enough"]);
});
