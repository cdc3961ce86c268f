// Faults on the way to a history that is remembered.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { revoke } from "../../tests/kit/events.ts";
import { lineOf, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  continuityTest,
  EVENTS,
  expectNoAnswer,
  KEYS,
  QUESTION,
} from "../testdata/continuity.ts";

const { key1, key2, stranger } = KEYS;

continuityTest(
  "keys that contradict come before any fault of the feed",
  async (watch) => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    watched.publishKeys([key2]);
    watched.publish([...lines, "{}"]);
    await expectNoAnswer(watched, "key_withdrawn", "Cannot trust feed");
    watched.publishKeys([key1]);
    const forged = await watched.line(2, stranger);
    watched.publish(lines.map((line, i) => i === 1 ? forged : line));
    await expectNoAnswer(watched, "signature_invalid", "Cannot verify feed");
  },
);

continuityTest(
  "a revoke of what a withdrawn key began is not a further fault",
  async (watch) => {
    await using watched = await watch(EVENTS, key1, {
      unmatchedRevoke: "reject",
    });
    const { consumer, server, lines } = watched;
    const begun = await watched.line(EVENTS + 1, key2, {
      relationship_id: "other",
    });
    const revoked = await lineOf(
      {
        ...revoke(EVENTS + 2, { relationship_id: "other" }),
        issuer: server.did,
      },
      key1,
    );
    watched.publishKeys([key1, key2]);
    watched.publish([...lines, begun, revoked]);
    await consumer.verify(server.did);
    watched.publishKeys([key1]);
    await expectNoAnswer(watched, "key_withdrawn", "Cannot trust feed");
  },
);

continuityTest(
  "that a history was contradicted comes before warnings of events",
  async (watch) => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    const odd = [...lines];
    for (let n = EVENTS + 1; n <= EVENTS + 20; n++) {
      const event_id = `${n} ${"long".repeat(200)}`;
      odd.push(await watched.line(n, key1, { event_id }));
    }
    watched.publish(odd);
    await consumer.verify(server.did);
    watched.publish(lines);
    await expectNoAnswer(watched, "feed_rolled_back", "Cannot trust feed");
    watched.publish(odd);
    await consumer.verify(server.did);
    // By the process that asked the issuer, and by one that did not.
    for (let nth = 0; nth < 2; nth++) {
      const { warnings } = await consumer.check(server.did, QUESTION);
      assertEquals(warnings.length, 10);
      assertEquals(warnings[0], {
        code: "history_was_inconsistent",
        detail: "since it is remembered, the issuer served something that " +
          "contradicts its history (feed_rolled_back)",
      });
    }
  },
);

continuityTest(
  "keys that contradict are reported even when the feed can't be read",
  async (watch) => {
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
  async (watch) => {
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
  async (watch) => {
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
  async (watch) => {
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
      () => consumer.check(server.did, { ...QUESTION, maxAgeMs: 0 }),
      "fetch_status",
      "the server answered with status 404",
    );
    watched.wait(10_000);
    await expectSigError(
      () => consumer.check(server.did, { ...QUESTION, maxAgeMs: 9_000 }),
      "feed_stale",
      "what is known is older than 9 s, and refreshing it failed (fetch_status)",
    );
    server.documents.set(PATHS.metadata, metadata);
    assertEquals(
      (await consumer.check(server.did, { ...QUESTION, maxAgeMs: 9_000 }))
        .warnings,
      [],
    );
  },
);

continuityTest(
  "another feed that was seen before the connection broke counts as seen",
  async (watch, t) => {
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
        // Of one line the tail is asked for from byte 0.
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
  async (watch, t) => {
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
          await using watched = await watch(EVENTS, key1, { maxAgeMs: 0 });
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
