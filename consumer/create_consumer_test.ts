import { assert, assertEquals, assertThrows } from "@std/assert";
import { createConsumer } from "./create_consumer.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { openPinFile } from "../tests/kit/pin_file.ts";
import { startIssuerServer, status } from "../tests/kit/issuer_server.ts";
import {
  ALICE,
  feedOf,
  lineOf,
  makeDocuments,
  makeLines,
  PATHS,
  upsert,
} from "../tests/kit/test_issuer.ts";
import { KEYS, QUESTION, setUp, START } from "./testdata/asked_issuer.ts";
import { waitForEqual } from "../tests/kit/wait.ts";

const { key1, stranger } = KEYS;

Deno.test("only issuers of the list are asked", async () => {
  await using setup = await setUp();
  await using stranger = startIssuerServer();
  const { consumer } = setup;
  const questions = [
    () => consumer.check(stranger.did, QUESTION),
    () => consumer.state(stranger.did),
    () => consumer.verify(stranger.did),
  ];
  for (const question of questions) {
    const error = await expectSigError(
      question,
      "issuer_not_allowed",
      "it is not on the list",
    );
    assertEquals(error.context, { issuer: stranger.did });
  }
  assertEquals(stranger.requests, []);
});

Deno.test("an issuer is the same by its DID, its host and its URL", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  await consumer.state(server.did);
  await consumer.state(server.origin.replace("http://", ""));
  await consumer.state(server.origin + PATHS.metadata);
  assertEquals(setup.fetches(), 1);
});

Deno.test("a wrong question fetches nothing", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  await expectSigError(
    () => consumer.check(server.did, { subject: ALICE, require: [] }),
    "requirements_empty",
    "Cannot check: at least one requirement is needed",
  );
  assertEquals(server.requests, []);
});

Deno.test("a file is not an issuer: it proves no origin", async () => {
  await using setup = await setUp();
  const { consumer } = setup;
  for (const issuer of ["./acme", "/srv/acme/.well-known/sig.json"]) {
    const message = "it must be a did:web, a host name or an https URL";
    await expectSigError(
      () => createConsumer({ issuers: [issuer] }),
      "invalid_identifier",
      message,
    );
    for (
      const question of [
        () => consumer.check(issuer, QUESTION),
        () => consumer.verify(issuer),
      ]
    ) await expectSigError(question, "invalid_identifier", message);
  }
});

Deno.test("a private host on the list is refused unless allowed", async () => {
  await expectSigError(
    () => createConsumer({ issuers: ["did:web:127.0.0.1%3A8080"] }),
    "address_not_allowed",
    "Cannot use",
  );
});

Deno.test("malformed bounds are refused before anything is asked", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const wrong = [
    [{ maxAgeMs: -1 }, "/max_age_seconds"],
    [{ maxAgeMs: NaN }, "/max_age_seconds"],
    [{ minSequence: -1 }, "/min_sequence"],
    [{ minSequence: 1.5 }, "/min_sequence"],
    [{ minSequence: 2 ** 53 }, "/min_sequence"],
  ] as const;
  for (const [bounds, pointer] of wrong) {
    const error = await expectSigError(
      () => consumer.check(server.did, { ...QUESTION, ...bounds }),
      "invalid_request",
      "Cannot answer: m",
    );
    assertEquals(error.context.pointer, pointer);
  }
  assertEquals(server.requests, []);
  for (const maxAgeMs of [-1, NaN]) {
    assertThrows(
      () => createConsumer({ issuers: [], maxAgeMs }),
      RangeError,
      "Cannot create consumer: maxAgeMs must be 0 or more",
    );
  }
});

Deno.test("a report on a feed in order is the body of /v1/verify", async () => {
  await using setup = await setUp();
  const { consumer, server, lines } = setup;
  const hash = await crypto.subtle.digest("SHA-256", feedOf(lines));
  for (const _ of [1, 2]) {
    assertEquals(await consumer.report(server.did), {
      valid: true,
      issuer: server.did,
      source: "http",
      verified_events: 2,
      last_sequence: 2,
      feed_sha256: new Uint8Array(hash).toHex(),
      keys: [{
        kid: key1.publicJwk.kid!,
        events: 2,
        first_sequence: 1,
        last_sequence: 2,
      }],
      warnings: [],
    });
  }
});

Deno.test("a report lists the faults; what can't be read is thrown", async () => {
  await using setup = await setUp();
  const { consumer, server, lines } = setup;
  const forged = await lineOf(upsert(2, { issuer: server.did }), stranger);
  server.documents.set(PATHS.feed, feedOf([lines[0]!, forged, "{}"]));
  const report = await consumer.report(server.did);
  assert(!report.valid);
  assertEquals(
    report.errors.map(({ code, line }) => [code, line]),
    [["signature_invalid", 2], ["invalid_envelope", 3]],
  );
  assertEquals(report.issuer, server.did);
  assertEquals(report.verified_events, 1);
  server.documents.set(PATHS.metadata, "{}");
  const early = await consumer.report(server.did);
  assert(!early.valid);
  assertEquals([early.issuer, early.errors[0]?.code], [
    null,
    "invalid_metadata",
  ]);
  server.documents.set(PATHS.metadata, status(500));
  await expectSigError(
    () => consumer.report(server.did),
    "fetch_status",
    "the server answered with status 500",
  );
});

Deno.test("any issuer is asked when that is allowed", async () => {
  await using setup = await setUp();
  const { server } = setup;
  const consumer = createConsumer({
    issuers: [],
    anyIssuer: true,
    allowPrivate: true,
    now: () => new Date(START),
  });
  const answer = await consumer.check(server.did, QUESTION);
  assertEquals(answer.decision, "allow");
  assertEquals(answer.continuity, "unpinned");
  await consumer.check(server.origin.replace("http://", ""), QUESTION);
  assertEquals(setup.fetches(), 1);
  assertEquals(
    (await consumer.observe(server.did, { maxAgeMs: 0 })).continuity,
    "unpinned",
  );
});

Deno.test("other work gets its turns while a long feed is verified, once also where a file keeps its lines", async () => {
  await using setup = await setUp();
  await using file = await openPinFile();
  const { server } = setup;
  const lines = await makeLines(300, key1, { issuer: server.did });
  server.documents.set(PATHS.feed, feedOf(lines));
  for (const pins of [undefined, file.pins]) {
    let turns = 0;
    const consumer = createConsumer({
      issuers: [server.did],
      allowPrivate: true,
      pins,
      yieldToEventLoop: () => {
        turns++;
        return Promise.resolve();
      },
    });
    // One after each 128 lines: none of them is verified a second time.
    const { state } = await consumer.verify(server.did);
    assertEquals(turns, 2);
    assertEquals(state.by_relationship_id.size, 300);
  }
});

Deno.test("where there is no node:crypto, the tail of a feed is digested all the same", async () => {
  const { process } = globalThis as unknown as {
    process: { getBuiltinModule: (name: string) => unknown };
  };
  const original = process.getBuiltinModule;
  process.getBuiltinModule = (name) =>
    name === "node:crypto" ? undefined : original.call(process, name);
  try {
    await using setup = await setUp();
    const { consumer, server, lines } = setup;
    const ranges: (string | null)[] = [];
    const serve = (bytes: Uint8Array<ArrayBuffer>) =>
      server.documents.set(PATHS.feed, (request) => {
        ranges.push(request.headers.get("range"));
        return new Response(bytes);
      });
    serve(feedOf(lines));
    await consumer.verify(server.did);
    const third = await lineOf(upsert(3, { issuer: server.did }), key1);
    const grown = feedOf([...lines, third]);
    serve(grown);
    const { feed } = await consumer.verify(server.did);
    const hash = await crypto.subtle.digest("SHA-256", grown);
    assertEquals(feed.sha256, new Uint8Array(hash).toHex());
    assertEquals(feed.verifiedEvents, 3);
    const from = feedOf(lines.slice(0, -1)).length;
    assertEquals(ranges, [null, `bytes=${from}-`]);
    serve(feedOf(lines));
    await expectSigError(
      () => consumer.verify(server.did),
      "feed_rolled_back",
      "Cannot trust feed",
    );
  } finally {
    process.getBuiltinModule = original;
  }
});

/** Issuers whose feeds have 8 lines of 54 KB, served a line at a time. */
async function startLargeIssuers(hosts: readonly string[]) {
  const metadata = { text: "x".repeat(40_000) };
  const documents = new Map<string, string>();
  const linesOf = new Map<string, readonly string[]>();
  for (const host of hosts) {
    const [did, origin] = [`did:web:${host}`, `https://${host}`];
    const lines = await makeLines(8, key1!, { issuer: did, metadata });
    linesOf.set(host, lines.map((line) => `${line}\n`));
    for (
      const [path, text] of makeDocuments({ did, origin, keys: [key1!], lines })
    ) documents.set(origin + path, String(text));
  }
  const go = Promise.withResolvers<void>();
  const sent = new Map(hosts.map((host) => [host, 0]));
  const body = (host: string) => {
    const lines = [...linesOf.get(host)!];
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        // Nobody's last line comes before the test has looked around.
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

Deno.test("two large feeds of unlisted issuers are read at a time, listed ones at once", async () => {
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
  // 64 KiB are one of these lines; the second waits for a place.
  const quiet = [2, 2, 7, 7, 7];
  await waitForEqual(issuers.sent, quiet);
  issuers.go();
  assertEquals((await listed).last_sequence, 8);
  for (const state of states) assertEquals((await state).last_sequence, 8);
});

Deno.test("an unlisted issuer that rewrites its large feed keeps no other from being read", async () => {
  const [did, origin] = ["did:web:a.example", "https://a.example"];
  const histories = await Promise.all(["x", "y"].map(async (each) => {
    const metadata = { text: each.repeat(40_000) };
    const lines = await makeLines(3, key1!, { issuer: did, metadata });
    return makeDocuments({ did, origin, keys: [key1!], lines });
  }));
  let documents = histories[0]!;
  const consumer = createConsumer({
    issuers: [],
    anyIssuer: true,
    fetch: (request) => {
      const body = documents.get(new URL(request.url).pathname);
      const status = body === undefined ? 404 : 200;
      return Promise.resolve(new Response(body ?? null, { status }));
    },
  });
  // More often than large feeds are read at a time.
  for (let i = 0; i < 4; i++) {
    documents = histories[i % 2]!;
    const { state } = await consumer.verify(did);
    assertEquals(state.last_sequence, 3);
  }
});
