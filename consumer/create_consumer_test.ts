import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import type { Consumer } from "./consumer.ts";
import { createConsumer } from "./create_consumer.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import {
  type IssuerServer,
  startIssuerServer,
  status,
} from "../tests/kit/issuer_server.ts";
import {
  ALICE,
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  makeLines,
  PATHS,
  upsert,
} from "../tests/kit/test_issuer.ts";

const [key1, , stranger] = await importTestKeys();
assert(key1 && stranger);
const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;
const START = Date.parse("2026-06-01T00:00:00Z");

/** An issuer on a server, a consumer of it, and a clock that stands still. */
interface Setup extends AsyncDisposable {
  readonly server: IssuerServer;
  readonly consumer: Consumer;
  readonly lines: readonly string[];
  /** How often the feed was asked for. */
  fetches(): number;
  /** Moves the clock. */
  wait(ms: number): void;
}

async function setUp(maxAge?: number): Promise<Setup> {
  const server = startIssuerServer();
  const { did, origin } = server;
  const lines = await makeLines(2, key1!, { issuer: did });
  const documents = makeDocuments({ did, origin, keys: [key1!], lines });
  for (const [path, text] of documents) server.documents.set(path, text);
  let ms = START;
  return {
    server,
    lines,
    consumer: createConsumer({
      issuers: [did],
      allowPrivate: true,
      now: () => new Date(ms),
      maxAge,
    }),
    fetches: () => server.requests.filter((path) => path === PATHS.feed).length,
    wait: (more) => {
      ms += more;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

Deno.test("questions at once share one fetch", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => consumer.check(server.did, QUESTION)),
  );
  assert(answers.every(({ decision }) => decision === "allow"));
  assertEquals(server.requests.length, 4);
  const states = await Promise.all([
    consumer.state(server.did),
    consumer.state(server.did),
  ]);
  assertStrictEquals(states[0], states[1]);
  assertEquals(setup.fetches(), 1);
});

Deno.test("a state is used until it is older than max age", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const first = await consumer.check(server.did, QUESTION);
  assertEquals(first.freshness, {
    observed_at: "2026-06-01T00:00:00Z",
    age_seconds: 0,
    max_age_seconds: 60,
    status: "fresh",
  });
  setup.wait(60_000);
  const second = await consumer.check(server.did, QUESTION);
  assertEquals(second.freshness?.age_seconds, 60);
  assertEquals(second.evaluated_at, "2026-06-01T00:01:00Z");
  assertEquals(setup.fetches(), 1);
  setup.wait(1);
  const third = await consumer.check(server.did, QUESTION);
  assertEquals(third.freshness?.observed_at, "2026-06-01T00:01:00.001Z");
  assertEquals(setup.fetches(), 2);
});

Deno.test("an answer is as young as it was asked to be, however slow the fetch", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  server.documents.set(PATHS.feed, () => {
    setup.wait(3_000);
    return new Response(feed);
  });
  for (const maxAgeSeconds of [1, 0]) {
    setup.wait(2_000);
    const { freshness, evaluated_at } = await consumer.check(server.did, {
      ...QUESTION,
      maxAgeSeconds,
    });
    assertEquals([freshness?.age_seconds, freshness?.status], [0, "fresh"]);
    const waited = Date.parse(evaluated_at) -
      Date.parse(freshness!.observed_at);
    assertEquals(waited, 3_000);
    setup.wait(2_000);
    const observed = await consumer.observe(server.did, {
      maxAgeMs: maxAgeSeconds * 1000,
    });
    assertEquals(observed.freshness.age_seconds, 0);
  }
});

Deno.test("max age is a minute unless told", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  await consumer.state(server.did);
  setup.wait(60_000);
  await consumer.state(server.did);
  assertEquals(setup.fetches(), 1);
  setup.wait(1);
  await consumer.state(server.did);
  assertEquals(setup.fetches(), 2);
});

Deno.test("max age 0 asks the issuer each time", async () => {
  await using setup = await setUp(0);
  const { consumer, server } = setup;
  for (let i = 1; i <= 3; i++) {
    await consumer.check(server.did, QUESTION);
    assertEquals(setup.fetches(), i);
  }
});

Deno.test("a clock that is set back makes the issuer be asked again", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  await consumer.state(server.did);
  setup.wait(-1);
  await consumer.state(server.did);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a revoke is seen when the state is too old, not before", async () => {
  await using setup = await setUp(1000);
  const { consumer, server, lines } = setup;
  const decide = async () =>
    (await consumer.check(server.did, {
      subject: ALICE,
      require: ["relationship_id=rel-2"],
    })).decision;
  assertEquals(await decide(), "allow");
  const { roles: _, ...event } = upsert(3, {
    issuer: server.did,
    event_type: "relationship.revoke",
    relationship_id: "rel-2",
    revokes_relationship_id: "rel-2",
    reason_code: "other",
    effective_at: "2026-01-01T00:00:00Z",
  });
  const revoked = [...lines, await lineOf(event, key1)];
  server.documents.set(PATHS.feed, feedOf(revoked));
  assertEquals(await decide(), "allow");
  setup.wait(1001);
  assertEquals(await decide(), "deny");
});

Deno.test("verify asks the issuer whatever is known, and its result is used", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const first = await consumer.verify(server.did);
  const second = await consumer.verify(server.did);
  assert(first !== second);
  assertEquals(setup.fetches(), 2);
  assertStrictEquals(await consumer.state(server.did), second.state);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a failure is not remembered: the next question tries again", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const feed = server.documents.get(PATHS.feed)!;
  server.documents.set(PATHS.feed, status(503));
  const ask = () => consumer.check(server.did, QUESTION);
  const [one, two] = await Promise.allSettled([ask(), ask()]);
  assertEquals([one?.status, two?.status], ["rejected", "rejected"]);
  assertEquals(setup.fetches(), 1);
  // Nothing was known before, so it is the fetch's own code.
  await expectSigError(
    ask,
    "fetch_status",
    "the server answered with status 503",
  );
  assertEquals(setup.fetches(), 2);
  server.documents.set(PATHS.feed, feed);
  assertEquals((await ask()).decision, "allow");
});

Deno.test("what is too old and can't be refreshed is stale, not an answer", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const ask = () => consumer.check(server.did, QUESTION);
  await ask();
  server.documents.set(PATHS.metadata, status(503));
  assertEquals((await ask()).decision, "allow");
  setup.wait(60_001);
  for (const question of [ask, () => consumer.state(server.did)]) {
    const error = await expectSigError(
      question,
      "feed_stale",
      "Cannot answer: what is known is older than 60 s, and refreshing it " +
        "failed (fetch_status)",
    );
    assertEquals(error.context, {
      observed_at: "2026-06-01T00:00:00Z",
      reason: "fetch_status",
    });
  }
  await expectSigError(
    () => consumer.verify(server.did),
    "fetch_status",
    "the server answered with status 503",
  );
});

Deno.test("with max age 0 there is nothing to be stale", async () => {
  await using setup = await setUp(0);
  const { consumer, server } = setup;
  await consumer.check(server.did, QUESTION);
  server.documents.set(PATHS.metadata, status(503));
  await expectSigError(
    () => consumer.check(server.did, QUESTION),
    "fetch_status",
    "the server answered with status 503",
  );
});

Deno.test("a feed that went bad is told as such, and is no answer", async () => {
  await using setup = await setUp(1000);
  const { consumer, server } = setup;
  const ask = () => consumer.check(server.did, QUESTION);
  await ask();
  const forged = await lineOf(upsert(1, { issuer: server.did }), stranger);
  server.documents.set(PATHS.feed, feedOf([forged]));
  setup.wait(1001);
  await expectSigError(
    ask,
    "signature_invalid",
    "Cannot verify feed: it is not a signature of key",
  );
});

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

Deno.test("a file is no issuer: it proves no origin", async () => {
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

Deno.test("100 questions at once share one fetch, whatever they demand", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const hundred = <T>(ask: () => Promise<T>) =>
    Promise.all(Array.from({ length: 100 }, ask));
  await hundred(() => consumer.check(server.did, QUESTION));
  assertEquals(setup.fetches(), 1);
  await hundred(() =>
    consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 0 })
  );
  assertEquals(setup.fetches(), 2);
  await Promise.all([
    hundred(() => consumer.verify(server.did)),
    hundred(() => consumer.report(server.did)),
  ]);
  assertEquals(setup.fetches(), 3);
});

Deno.test("who demands an answer of now does not get one that began before", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  server.documents.set(PATHS.feed, async () => {
    asked.resolve();
    await go.promise;
    return new Response(feed);
  });
  const early = consumer.check(server.did, QUESTION);
  await asked.promise;
  const shared = consumer.check(server.did, QUESTION);
  const demanding = [
    consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 0 }),
    consumer.check(server.did, { ...QUESTION, minSequence: 1 }),
    consumer.verify(server.did),
    consumer.report(server.did),
  ];
  go.resolve();
  await Promise.all([early, shared]);
  assertEquals(setup.fetches(), 1);
  await Promise.all(demanding);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a refresh that began before an event is not shared by who asks about it", async () => {
  await using setup = await setUp();
  const { consumer, server, lines } = setup;
  const third = await lineOf(upsert(3, { issuer: server.did }), key1);
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  server.documents.set(PATHS.feed, async () => {
    asked.resolve();
    await go.promise;
    return new Response(feedOf(lines));
  });
  const early = consumer.check(server.did, QUESTION);
  await asked.promise;
  const late = consumer.check(server.did, { ...QUESTION, minSequence: 3 });
  server.documents.set(PATHS.feed, feedOf([...lines, third]));
  go.resolve();
  assertEquals((await early).last_sequence, 2);
  assertEquals((await late).last_sequence, 3);
});

Deno.test("a refresh that began too long ago is not shared", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  server.documents.set(PATHS.feed, async () => {
    asked.resolve();
    await go.promise;
    return new Response(feed);
  });
  const slow = consumer.check(server.did, QUESTION);
  await asked.promise;
  setup.wait(10_000);
  const shared = consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 10 });
  const strict = consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 9 });
  go.resolve();
  // The age is that when it was asked.
  assertEquals((await slow).freshness?.age_seconds, 0);
  assertEquals((await shared).freshness?.age_seconds, 10);
  assertEquals((await strict).freshness?.age_seconds, 0);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a question may tighten max age, not loosen it", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const ask = async (maxAgeSeconds: number) =>
    (await consumer.check(server.did, { ...QUESTION, maxAgeSeconds }))
      .freshness?.max_age_seconds;
  assertEquals(await ask(10), 10);
  setup.wait(10_001);
  assertEquals(await ask(3600), 60);
  assertEquals(setup.fetches(), 1);
  assertEquals(await ask(10), 10);
  assertEquals(setup.fetches(), 2);
  setup.wait(60_001);
  assertEquals(await ask(3600), 60);
  assertEquals(setup.fetches(), 3);
});

Deno.test("a question about an event that is not known yet refreshes once", async () => {
  await using setup = await setUp();
  const { consumer, server, lines } = setup;
  const ask = (minSequence: number) =>
    consumer.check(server.did, { ...QUESTION, minSequence });
  await ask(2);
  assertEquals(setup.fetches(), 1);
  const error = await expectSigError(
    () => ask(3),
    "consistency_unavailable",
    "Cannot answer: the feed ends at sequence 2, before 3",
  );
  assertEquals(error.context.sequence, 3);
  assertEquals(error.context.last_sequence, 2);
  assertEquals(setup.fetches(), 2);
  const third = await lineOf(upsert(3, { issuer: server.did }), key1);
  server.documents.set(PATHS.feed, feedOf([...lines, third]));
  assertEquals((await ask(3)).last_sequence, 3);
  assertEquals(setup.fetches(), 3);
  await ask(3);
  assertEquals(setup.fetches(), 3);
  const state = await consumer.state(server.did, { minSequence: 3 });
  assertEquals(state.last_sequence, 3);
  // That it can't be refreshed does not make the state too old.
  server.documents.set(PATHS.metadata, status(503));
  await expectSigError(() => ask(4), "fetch_status", "with status 503");
});

Deno.test("bounds that are none are refused before anything is asked", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const wrong = [
    [{ maxAgeSeconds: -1 }, "/max_age_seconds"],
    [{ maxAgeSeconds: NaN }, "/max_age_seconds"],
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
  for (const maxAge of [-1, NaN]) {
    assertThrows(
      () => createConsumer({ issuers: [], maxAge }),
      RangeError,
      "Cannot create consumer: maxAge must be 0 or more",
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
      source: "https",
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
  assertEquals(answer.continuity, "first_seen");
  await consumer.check(server.origin.replace("http://", ""), QUESTION);
  assertEquals(setup.fetches(), 1);
  assertEquals(
    (await consumer.observe(server.did, { maxAgeMs: 0 })).continuity,
    "consistent",
  );
});

Deno.test("a breath is taken while a long feed is verified", async () => {
  await using setup = await setUp();
  const { server } = setup;
  const lines = await makeLines(300, key1, { issuer: server.did });
  server.documents.set(PATHS.feed, feedOf(lines));
  let breaths = 0;
  const consumer = createConsumer({
    issuers: [server.did],
    allowPrivate: true,
    breathe: () => {
      breaths++;
      return Promise.resolve();
    },
  });
  await consumer.verify(server.did);
  assertEquals(breaths, 2);
});

Deno.test("where there is no node:crypto, whole feeds are digested instead", async () => {
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
    assertEquals(ranges, [null, null]);
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
  for (let i = 0; i < 1000 && issuers.sent().join() !== quiet.join(); i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assertEquals(issuers.sent(), quiet);
  issuers.go();
  assertEquals((await listed).last_sequence, 8);
  for (const state of states) assertEquals((await state).last_sequence, 8);
});
