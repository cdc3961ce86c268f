import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { createMemoryPinStore } from "../pins/memory_pin_store.ts";
import {
  consumerOfManyProcesses,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

/** Whether each question comes from a process of its own. */
let isAcrossProcesses = false;

/** What holds in one process holds across processes with one memory. */
function continuityTest(
  name: string,
  fn: (t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test(name, fn);
  Deno.test(`across processes: ${name}`, async (t) => {
    isAcrossProcesses = true;
    await fn(t).finally(() => isAcrossProcesses = false);
  });
}

const watch: typeof watchIssuer = (n, key, options = {}) => {
  if (!isAcrossProcesses) return watchIssuer(n, key, options);
  const pins = createMemoryPinStore();
  return watchIssuer(
    n,
    key,
    options,
    (all) => consumerOfManyProcesses({ ...all, pins }),
  );
};

// The stranger's key has the kid of the first.
const [key1, key2, stranger] = await importTestKeys();
assert(key1 && key2 && stranger);
const EVENTS = 6;
const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

/** Asserts that nothing is answered, and why. */
async function expectNoAnswer(
  { consumer, server }: WatchedIssuer,
  code: ErrorCode,
  message: string,
): Promise<void> {
  const ask: readonly (() => Promise<unknown>)[] = [
    () => consumer.verify(server.did),
    () => consumer.check(server.did, QUESTION),
    () => consumer.state(server.did),
    () => consumer.observe(server.did),
  ];
  for (const each of ask) await expectSigError(each, code, message);
  const report = await consumer.report(server.did);
  assert(!report.valid);
  assertEquals(report.errors.map((each) => each.code), [code]);
  assertEquals(report.issuer, server.did);
}

/** Asserts that questions are answered again, with the warning. */
async function expectRecovered(
  { consumer, server }: WatchedIssuer,
): Promise<void> {
  const answer = await consumer.check(server.did, QUESTION);
  assertEquals(answer.decision, "allow");
  assertEquals(answer.continuity, "consistent");
  assertEquals(
    answer.warnings.map(({ code }) => code),
    ["history_was_inconsistent"],
  );
  // And as long as the state is young, nobody asks the issuer again.
  const { length } = server.exchanges;
  await consumer.check(server.did, QUESTION);
  assertEquals(server.exchanges.length, length);
}

async function resign(
  watched: WatchedIssuer,
  key: SigningKey,
  events = EVENTS,
): Promise<string[]> {
  const sequences = Array.from({ length: events }, (_, i) => i + 1);
  return await Promise.all(sequences.map((each) => watched.line(each, key)));
}

for (let kept = 0; kept < EVENTS; kept++) {
  continuityTest(
    `a feed cut to ${kept} of ${EVENTS} events is rolled back`,
    async () => {
      await using watched = await watch(EVENTS, key1);
      const { consumer, server, lines } = watched;
      await consumer.check(server.did, QUESTION);
      watched.wait(60_001);
      watched.publish(lines.slice(0, kept));
      await expectNoAnswer(
        watched,
        "feed_rolled_back",
        `Cannot trust feed: the feed ends at sequence ${kept}, but ${EVENTS} ` +
          "events are remembered",
      );
      watched.publish(lines);
      await expectRecovered(watched);
    },
  );
}

for (let changed = 1; changed <= EVENTS; changed++) {
  continuityTest(
    `event ${changed} rewritten and signed with the true key is told`,
    async () => {
      await using watched = await watch(EVENTS, key1);
      const { consumer, server, lines } = watched;
      await consumer.check(server.did, QUESTION);
      watched.wait(60_001);
      const other = [...lines];
      other[changed - 1] = await watched.line(changed, key1, {
        roles: ["deploy", "admin"],
      });
      const grown = await watched.line(EVENTS + 1, key1);
      for (const feed of [other, [...other, grown]]) {
        watched.publish(feed);
        await expectNoAnswer(
          watched,
          "feed_rewritten",
          `Cannot trust feed: event ${changed} is not the one that is remembered`,
        );
      }
      watched.publish([...lines, grown]);
      await expectRecovered(watched);
    },
  );
}

continuityTest(
  "a line in another spelling is rewritten too: bytes are what was seen",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    watched.publish(lines.map((line, i) => i === 2 ? `${line} ` : line));
    await expectNoAnswer(
      watched,
      "feed_rewritten",
      `Cannot trust feed: one of the first ${EVENTS} events is not the one`,
    );
  },
);

continuityTest(
  "events are counted, not bytes: a shorter feed of longer lines is rolled back",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    const spaces = " ".repeat(2000);
    watched.publish(lines.slice(0, 5).map((line) => line + spaces));
    await expectNoAnswer(watched, "feed_rolled_back", "ends at sequence 5");
  },
);

/** A way to contradict six events that key 1 signed. */
interface Contradiction {
  readonly name: string;
  readonly keys: readonly SigningKey[];
  readonly signedBy?: SigningKey;
  readonly events?: number;
  readonly code: ErrorCode;
  readonly message: string;
}

const CONTRADICTIONS: readonly Contradiction[] = [
  {
    name: "a key replaced, the feed not signed again",
    keys: [stranger],
    code: "key_replaced",
    message: "Cannot trust feed: another key is published as",
  },
  {
    name: "a key replaced, the feed signed again",
    keys: [stranger],
    signedBy: stranger,
    code: "key_replaced",
    message: "Cannot trust feed: another key is published as",
  },
  {
    name: "a key replaced, the feed signed again and grown",
    keys: [stranger],
    signedBy: stranger,
    events: EVENTS + 2,
    code: "key_replaced",
    message: "Cannot trust feed: another key is published as",
  },
  {
    name: "a key withdrawn, the feed not signed again",
    keys: [key2],
    code: "key_withdrawn",
    message: "which signed remembered events, is no longer published",
  },
  {
    name: "a key withdrawn, the feed signed again by another",
    keys: [key2],
    signedBy: key2,
    code: "key_withdrawn",
    message: "which signed remembered events, is no longer published",
  },
  {
    name: "all keys withdrawn",
    keys: [],
    code: "key_withdrawn",
    message: "which signed remembered events, is no longer published",
  },
  {
    name: "a key replaced, the feed rolled back and not signed again",
    keys: [stranger],
    events: 4,
    code: "feed_rolled_back",
    message: "Cannot trust feed: the feed ends at sequence 4, but 6",
  },
  {
    name: "a key replaced, the feed rolled back and signed again",
    keys: [stranger],
    signedBy: stranger,
    events: 4,
    code: "feed_rolled_back",
    message: "Cannot trust feed: the feed ends at sequence 4, but 6",
  },
  {
    name: "a key withdrawn, the feed rolled back to nothing",
    keys: [key2],
    events: 0,
    code: "feed_rolled_back",
    message: "Cannot trust feed: the feed ends at sequence 0, but 6",
  },
  {
    name: "another key's feed under the same keys",
    keys: [key1, key2],
    signedBy: key2,
    code: "feed_rewritten",
    message: "Cannot trust feed: event 1 is not the one that is remembered",
  },
];

for (const { name, keys, signedBy, events, code, message } of CONTRADICTIONS) {
  continuityTest(`${name}: ${code}`, async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.check(server.did, QUESTION);
    watched.wait(60_001);
    watched.publishKeys(keys);
    watched.publish(
      signedBy
        ? await resign(watched, signedBy, events)
        : lines.slice(0, events),
    );
    await expectNoAnswer(watched, code, message);
    watched.publishKeys([key1]);
    watched.publish(lines);
    await expectRecovered(watched);
  });
}

continuityTest(
  "a fault that keys don't explain keeps its own code",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    watched.publishKeys([key2]);
    watched.publish([...lines, "{}"]);
    await expectNoAnswer(watched, "invalid_envelope", "Cannot verify feed");
    watched.publishKeys([key1]);
    const forged = await watched.line(2, stranger);
    watched.publish(lines.map((line, i) => i === 1 ? forged : line));
    await expectNoAnswer(watched, "signature_invalid", "Cannot verify feed");
  },
);

continuityTest(
  "keys that contradict are told even when the feed can't be read",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server } = watched;
    await consumer.verify(server.did);
    watched.publishKeys([stranger]);
    server.documents.delete(PATHS.feed);
    await expectNoAnswer(watched, "key_replaced", "Cannot trust feed");
  },
);

continuityTest(
  "a fault that passes leaves no warning: no history was contradicted",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    watched.publish([...lines, "{}"]);
    await expectNoAnswer(watched, "invalid_envelope", "Cannot verify feed");
    watched.publish(lines);
    const { warnings, continuity } = await consumer.observe(server.did);
    assertEquals([warnings, continuity], [[], "consistent"]);
  },
);

continuityTest(
  "after a contradiction the state answers no more, however young it is",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    assertEquals(
      (await consumer.check(server.did, QUESTION)).continuity,
      "first_seen",
    );
    watched.publish(lines.slice(0, 3));
    // Nobody has looked: the state is young.
    assertEquals(
      (await consumer.check(server.did, QUESTION)).decision,
      "allow",
    );
    await assertRejects(() => consumer.verify(server.did));
    const fetches = () => server.of(PATHS.feed).length;
    const before = fetches();
    for (const nth of [1, 2]) {
      await expectSigError(
        () => consumer.check(server.did, QUESTION),
        "feed_rolled_back",
        "Cannot trust feed",
      );
      assertEquals(fetches() > before, true);
      assertEquals(fetches() - before, nth * 2);
    }
    // Nor when it can't be reached then.
    server.documents.delete(PATHS.metadata);
    await expectSigError(
      () => consumer.check(server.did, QUESTION),
      "fetch_status",
      "the server answered with status 404",
    );
  },
);

continuityTest(
  "an issuer that can't be reached leaves a young state as it was",
  async () => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server } = watched;
    await consumer.check(server.did, QUESTION);
    const metadata = server.documents.get(PATHS.metadata)!;
    server.documents.delete(PATHS.metadata);
    await expectSigError(
      () => consumer.verify(server.did),
      "fetch_status",
      "the server answered with status 404",
    );
    assertEquals(
      (await consumer.check(server.did, QUESTION)).decision,
      "allow",
    );
    await expectSigError(
      () => consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 0 }),
      "fetch_status",
      "the server answered with status 404",
    );
    watched.wait(10_000);
    await expectSigError(
      () => consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 9 }),
      "feed_stale",
      "what is known is older than 9 s, and refreshing it failed (fetch_status)",
    );
    server.documents.set(PATHS.metadata, metadata);
    assertEquals(
      (await consumer.check(server.did, { ...QUESTION, maxAgeSeconds: 9 }))
        .warnings,
      [],
    );
  },
);

continuityTest(
  "another feed that was seen before the connection broke counts as seen",
  async (t) => {
    const seen: readonly (readonly [string, () => Response])[] = [
      ["416", () => new Response(null, { status: 416 })],
      ["another tail", () => {
        const headers = { "content-range": "bytes 0-0/1" };
        return new Response("x", { status: 206, headers });
      }],
      ["another whole feed", () => new Response("x".repeat(100_000))],
    ];
    for (const [name, different] of seen) {
      await t.step(name, async () => {
        // One line shorter than the overlap: its tail is asked for from byte 0.
        await using watched = await watch(1, key1);
        const { consumer, server } = watched;
        await consumer.check(server.did, QUESTION);
        let isFirst = true;
        server.documents.set(PATHS.feed, () => {
          const response = isFirst
            ? different()
            : new Response(null, { status: 503 });
          isFirst = false;
          return response;
        });
        for (
          const ask of [
            () => consumer.verify(server.did),
            () => consumer.check(server.did, QUESTION),
          ]
        ) await expectSigError(ask, "fetch_status", "with status 503");
        watched.publish([]);
        await expectNoAnswer(watched, "feed_rolled_back", "Cannot trust feed");
      });
    }
  },
);

continuityTest(
  "every fault on the way is an error and never a decision",
  async (t) => {
    const broken = (status: number) => () => new Response(null, { status });
    const faults: readonly (readonly [string, string, unknown])[] = [
      ["metadata missing", PATHS.metadata, undefined],
      ["metadata 500", PATHS.metadata, broken(500)],
      ["metadata no JSON", PATHS.metadata, "{"],
      ["metadata empty", PATHS.metadata, "{}"],
      ["keys missing", PATHS.jwks, undefined],
      ["keys 500", PATHS.jwks, broken(500)],
      ["keys no JSON", PATHS.jwks, "[]"],
      ["keys that are secret", PATHS.jwks, '{"keys":[{"kty":"oct","k":"AA"}]}'],
      ["DID document 500", PATHS.did, broken(500)],
      ["DID document of another", PATHS.did, '{"id":"did:web:x.example"}'],
      ["feed missing", PATHS.feed, undefined],
      ["feed redirected", PATHS.feed, broken(302)],
      ["feed 206 unasked", PATHS.feed, broken(206)],
      [
        "feed of a portal",
        PATHS.feed,
        () => new Response("<p>", { headers: { "content-type": "text/html" } }),
      ],
      ["feed cut", PATHS.feed, "{"],
      ["feed of nothing", PATHS.feed, "\n"],
    ];
    for (const [name, path, served] of faults) {
      for (const isKnown of [false, true]) {
        await t.step(`${name}, ${isKnown ? "known" : "first"}`, async () => {
          await using watched = await watch(EVENTS, key1, { maxAge: 0 });
          const { consumer, server } = watched;
          if (isKnown) await consumer.check(server.did, QUESTION);
          const before = server.documents.get(path)!;
          if (served === undefined) server.documents.delete(path);
          else server.documents.set(path, served as typeof before);
          const ask = [
            () => consumer.check(server.did, QUESTION),
            () => consumer.state(server.did),
            () => consumer.observe(server.did),
            () => consumer.verify(server.did),
          ];
          const asked = await Promise.allSettled(ask.map((each) => each()));
          for (const { status } of asked) assertEquals(status, "rejected");
          const report = await consumer.report(server.did).catch(() =>
            undefined
          );
          assert(report === undefined || !report.valid);
          server.documents.set(path, before);
          const answer = await consumer.check(server.did, QUESTION);
          assertEquals(answer.decision, "allow");
        });
      }
    }
  },
);
