import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { type Consumer, createConsumer } from "./create_consumer.ts";
import { expectSigError } from "./testdata/expect_sig_error.ts";
import {
  type IssuerServer,
  startIssuerServer,
  status,
} from "./testdata/issuer_server.ts";
import {
  ALICE,
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  makeLines,
  PATHS,
  upsert,
} from "./testdata/test_issuer.ts";

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
