import { assert, assertEquals, assertThrows } from "@std/assert";
import type { AskedRequirements, ErrorCode } from "@sig/core";
import { createConsumer } from "./create_consumer.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { openPinFile } from "../tests/kit/pin_file.ts";
import { status } from "../tests/kit/issuer_server.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../tests/kit/test_issuer.ts";
import { QUESTION, watchIssuer } from "../tests/kit/watched_issuer.ts";
import { countYields, waitForEqual } from "../tests/kit/wait.ts";

const [key1, , stranger] = await importTestKeys();

Deno.test("an invalid issuer on the list is an error", async () => {
  const rows: readonly (readonly [string, ErrorCode, string])[] = [
    ["./acme", "invalid_identifier", "it must be a did:web, a host name"],
    ["/srv/sig.json", "invalid_identifier", "it must be a did:web, a host"],
    ["did:web:127.0.0.1%3A80", "address_not_allowed", "Cannot use"],
  ];
  for (const [issuer, code, message] of rows) {
    const create = () => createConsumer({ issuers: [issuer] });
    await expectSigError(create, code, message);
  }
});

Deno.test("invalid limits of a consumer are a RangeError", () => {
  for (
    const limits of [
      ...[{ maxAgeMs: -1 }, { maxAgeMs: NaN }],
      ...[{ maxWaiting: 0 }, { maxWaiting: NaN }],
      ...[{ maxWaitMs: 0 }, { maxWaitMs: 2 ** 31 }],
    ]
  ) {
    assertThrows(
      () => createConsumer({ issuers: [], ...limits }),
      RangeError,
      `Cannot create consumer: ${Object.keys(limits)[0]} must be `,
    );
  }
});

Deno.test("a rejected question causes no request", async () => {
  await using issuer = await watchIssuer(2, key1);
  await using other = await watchIssuer(1, key1);
  const { check, consumer } = issuer;
  for (
    const [bounds, pointer] of [
      [{ maxAgeMs: -1 }, "/max_age_seconds"],
      [{ maxAgeMs: NaN }, "/max_age_seconds"],
      [{ minSequence: -1 }, "/min_sequence"],
      [{ minSequence: 1.5 }, "/min_sequence"],
      [{ minSequence: 2 ** 53 }, "/min_sequence"],
      ...[[{ graceMs: -1 }, "/graceMs"], [{ graceMs: NaN }, "/graceMs"]],
      [{ signal: "no" as unknown as AbortSignal }, "/signal"],
    ] as const
  ) {
    const error = await expectSigError(
      () => check(bounds),
      "invalid_request",
      `Cannot answer: ${pointer.slice(1)} must be`,
    );
    assertEquals(error.context.pointer, pointer);
  }
  await expectSigError(
    () => check({ require: [] as unknown as AskedRequirements }),
    "requirements_empty",
    "Cannot check: at least one requirement is needed",
  );
  const misspelt = { ...QUESTION, min_sequence: 9999 };
  for (
    const ask of [
      () => consumer.check(issuer.did, misspelt),
      () => consumer.ask(issuer.did, misspelt),
      () => consumer.checkAny([issuer.did], misspelt),
    ]
  ) {
    const error = await expectSigError(
      ask,
      "invalid_request",
      'there is no member "min_sequence"; did you mean "minSequence"?',
    );
    assertEquals(error.context.pointer, "/min_sequence");
  }
  for (
    const ask of [
      () => consumer.check(other.did, QUESTION),
      () => consumer.state(other.did),
      () => consumer.verify(other.did),
    ]
  ) {
    const error = await expectSigError(
      ask,
      "issuer_not_allowed",
      "it is not on the list",
    );
    assertEquals(error.context, { issuer: other.did });
  }
  assertEquals([issuer, other].map(({ server }) => server.exchanges), [[], []]);
});

Deno.test("oneAnswer: questions about two subjects at the same time are both answered", async () => {
  await using issuer = await watchIssuer(1, key1, { oneAnswer: true });
  const { check, lines, line, publish } = issuer;
  const subject = "did:web:bob.example";
  publish([...lines, await line(2, key1, { subject })]);
  const answers = await Promise.all([check(), check({ subject })]);
  assertEquals(answers.map(({ decision }) => decision), ["allow", "allow"]);
  // Nor do they continue the same feed.
  await issuer.verify();
  publish([...lines, await line(2, key1, { subject }), await line(3, key1)]);
  const now = { maxAgeMs: 0 };
  const more = await Promise.all([check(now), check({ subject, ...now })]);
  assertEquals(more.map(({ last_sequence }) => last_sequence), [3, 3]);
});

Deno.test("oneAnswer: what was read for one subject answers no other, and a signal ends the wait", async () => {
  await using issuer = await watchIssuer(1, key1, { oneAnswer: true });
  const { check, lines, line, publish } = issuer;
  const subject = "did:web:bob.example";
  publish([...lines, await line(2, key1, { subject })]);
  assertEquals((await check({ subject })).decision, "allow");
  assertEquals((await check()).decision, "allow");
  const { asked, go } = issuer.holdFeed();
  const stop = new AbortController();
  const ended = check({ signal: stop.signal, maxAgeMs: 0 }).catch((error) =>
    error
  );
  await asked;
  stop.abort("enough");
  assertEquals(await ended, "enough");
  go();
  // The read that nobody waits for ends before this one.
  await check({ maxAgeMs: 0 });
});

Deno.test("a report lists the faults, and throws if a document can't be read", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { did, lines, server: { documents } } = issuer;
  const report = async () => {
    const found = await issuer.consumer.report(did);
    assert(!found.valid);
    const errors = found.errors.map(({ code, line }) => [code, line]);
    return [found.issuer, found.verified_events, errors];
  };
  issuer.publish([lines[0]!, await issuer.line(2, stranger), "{}"]);
  assertEquals(await report(), [
    ...[did, 1, [["signature_invalid", 2], ["invalid_envelope", 3]]],
  ]);
  documents.set(PATHS.metadata, "{}");
  assertEquals(await report(), [null, 0, [["invalid_metadata", undefined]]]);
  documents.set(PATHS.metadata, status(500));
  await expectSigError(report, "fetch_status", "answered with status 500");
});

Deno.test("with anyIssuer, an unlisted issuer answers and is not pinned", async () => {
  const options = { issuers: [], anyIssuer: true };
  await using issuer = await watchIssuer(2, key1, options);
  const { consumer, did, server } = issuer;
  const host = server.origin.replace("http://", "");
  for (const name of [did, host]) {
    const answer = await consumer.check(name, QUESTION);
    assertEquals([answer.decision, answer.continuity], ["allow", "unpinned"]);
  }
  assertEquals(issuer.statuses(), [200]);
  const { continuity } = await consumer.observe(did, { maxAgeMs: 0 });
  assertEquals(continuity, "unpinned");
});

Deno.test("verification yields to the event loop, and verifies each line once also with a pin file", async () => {
  await using file = await openPinFile();
  await using issuer = await watchIssuer(300, key1);
  for (const pins of [undefined, file.pins]) {
    const yields = countYields();
    const consumer = createConsumer({
      ...{ issuers: [issuer.did], allowPrivate: true, pins, ...yields },
    });
    // One yield for each 128 lines: no line is verified twice.
    const { state } = await consumer.verify(issuer.did);
    assertEquals([yields.count, state.by_relationship_id.size], [2, 300]);
  }
});

/** Starts issuers whose feeds have 8 lines of 54 KB, served line by line. */
async function startLargeIssuers(hosts: readonly string[]) {
  const metadata = { text: "x".repeat(40_000) };
  const documents = new Map<string, string>();
  const linesOf = new Map<string, readonly string[]>();
  for (const host of hosts) {
    const [did, origin] = [`did:web:${host}`, `https://${host}`];
    const lines = await makeLines(8, key1, { issuer: did, metadata });
    linesOf.set(host, lines.map((line) => `${line}\n`));
    for (
      const [path, text] of makeDocuments({ did, origin, keys: [key1], lines })
    ) documents.set(origin + path, String(text));
  }
  const go = Promise.withResolvers<void>();
  const sent = new Map(hosts.map((host) => [host, 0]));
  const body = (host: string) => {
    const lines = [...linesOf.get(host)!];
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        // The last line waits until the test has counted.
        if (lines.length === 1) await go.promise;
        const line = lines.shift();
        if (line === undefined) return controller.close();
        sent.set(host, sent.get(host)! + 1);
        controller.enqueue(new TextEncoder().encode(line));
      },
    }, { highWaterMark: 0 });
  };
  return {
    sent: () => [...sent.values()].sort(),
    go: () => go.resolve(),
    fetch: (request: Request) => {
      const { href, host, pathname } = new URL(request.url);
      const isFeed = pathname === PATHS.feed;
      return Promise.resolve(
        new Response(isFeed ? body(host) : documents.get(href) ?? null, {
          status: isFeed || documents.has(href) ? 200 : 404,
        }),
      );
    },
  };
}

Deno.test("at most two large feeds of unlisted issuers are read concurrently; listed issuers do not wait", async () => {
  const unlisted = ["a.example", "b.example", "c.example", "d.example"];
  const issuers = await startLargeIssuers([...unlisted, "listed.example"]);
  const { fetch } = issuers;
  const consumer = createConsumer({
    issuers: ["listed.example"],
    anyIssuer: true,
    fetch,
  });
  const states = unlisted.map((host) => consumer.state(host));
  const listed = consumer.state("listed.example");
  // One line has less than 64 KiB, two have more: feeds wait at the second
  // line.
  const quiet = [2, 2, 7, 7, 7];
  await waitForEqual(issuers.sent, quiet);
  issuers.go();
  assertEquals((await listed).last_sequence, 8);
  for (const state of states) assertEquals((await state).last_sequence, 8);
});

Deno.test("an unlisted issuer that rewrites its large feed releases the semaphore", async () => {
  const options = { issuers: [], anyIssuer: true };
  await using issuer = await watchIssuer(0, key1, options);
  const histories = await Promise.all(["x", "y"].map((each) => {
    const metadata = { text: each.repeat(40_000) };
    return makeLines(3, key1, { issuer: issuer.did, metadata });
  }));
  // More often than large feeds may be read concurrently.
  for (let i = 0; i < 4; i++) {
    issuer.publish(histories[i % 2]!);
    assertEquals((await issuer.verify()).state.last_sequence, 3);
  }
});
