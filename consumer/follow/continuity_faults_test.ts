// Faults of an issuer whose history is remembered.
import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { revoke } from "../../tests/kit/events.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { lineOf, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  continuityTest,
  EVENTS,
  expectNoAnswer,
  expectRecovered,
  KEYS,
  oneProcessTest,
} from "../testdata/continuity.ts";

// promise: A question that can't be answered is an error, never an allow and
//   never a deny.

const { key1, key2, stranger } = KEYS;
const ROLLED_BACK = ["feed_rolled_back", "Cannot trust feed"] as const;

continuityTest(
  "a contradiction of keys is reported before faults of the feed",
  async (watch) => {
    await using watched = await watch();
    const { lines, server } = watched;
    await watched.verify();
    watched.publishKeys([key2]);
    watched.publish([...lines, "{}"]);
    await expectNoAnswer(watched, "key_withdrawn", "Cannot trust feed");
    watched.publishKeys([key1]);
    watched.publish(lines.with(1, await watched.line(2, stranger)));
    await expectNoAnswer(watched, "signature_invalid", "Cannot verify feed");
    watched.publishKeys([stranger]);
    server.documents.delete(PATHS.feed);
    await expectNoAnswer(watched, "key_replaced", "Cannot trust feed");
  },
);

continuityTest(
  "a withdrawn key causes no second fault for a revoke of its relationship",
  async (watch) => {
    await using watched = await watch(EVENTS, { unmatchedRevoke: "reject" });
    const { did, lines } = watched;
    const relationship_id = "other";
    const begun = await watched.line(EVENTS + 1, key2, { relationship_id });
    const end = { ...revoke(EVENTS + 2, { relationship_id }), issuer: did };
    watched.publishKeys([key1, key2]);
    watched.publish([...lines, begun, await lineOf(end, key1)]);
    await watched.verify();
    watched.publishKeys([key1]);
    await expectNoAnswer(watched, "key_withdrawn", "Cannot trust feed");
  },
);

continuityTest(
  "the warning about a contradiction precedes warnings about events",
  async (watch) => {
    await using watched = await watch();
    const odd = [...watched.lines];
    for (let n = EVENTS + 1; n <= EVENTS + 20; n++) {
      const event_id = `${n} ${"long".repeat(200)}`;
      odd.push(await watched.line(n, key1, { event_id }));
    }
    watched.publish(odd);
    await watched.verify();
    watched.publish(watched.lines);
    await expectNoAnswer(watched, ...ROLLED_BACK);
    watched.publish(odd);
    await watched.verify();
    // In the process that made the request, and in another process.
    for (let nth = 0; nth < 2; nth++) {
      const { warnings } = await watched.check();
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
  "a fault that was fixed leaves no warning, since it contradicted no history",
  async (watch) => {
    await using watched = await watch();
    await watched.verify();
    watched.publish([...watched.lines, "{}"]);
    await expectNoAnswer(watched, "invalid_envelope", "Cannot verify feed");
    watched.publish(watched.lines);
    const { warnings, continuity } = await watched.check();
    assertEquals([warnings, continuity], [[], "consistent"]);
  },
);

oneProcessTest(
  "after a contradiction a state within the maximum age does not answer",
  async (watch) => {
    await using watched = await watch();
    assertEquals((await watched.check()).continuity, "first_seen");
    watched.publish(watched.lines.slice(0, 3));
    // The state is within the maximum age, so the contradiction is not seen
    // yet.
    assertEquals((await watched.check()).decision, "allow");
    await watched.refused(...ROLLED_BACK);
    const before = watched.statuses().length;
    for (const nth of [1, 2]) {
      await expectSigError(() => watched.check(), ...ROLLED_BACK);
      assertEquals(watched.statuses().length - before, nth);
    }
    // The state does not answer either if the issuer can't be reached.
    watched.server.documents.delete(PATHS.metadata);
    await expectSigError(
      () => watched.check(),
      "fetch_status",
      "the server answered with status 404",
    );
  },
);

oneProcessTest(
  "a different feed served before a failed request stops answers",
  async (watch, t) => {
    const headers = { "content-range": "bytes 0-0/1" };
    const different = {
      "416": status(416),
      "another tail": () => new Response("x", { status: 206, headers }),
      "another whole feed": () => new Response("x".repeat(100_000)),
    };
    for (const [name, serve] of Object.entries(different)) {
      await t.step(name, async () => {
        // The tail of one line is requested from byte 0.
        await using watched = await watch(1);
        await watched.check();
        const answers = [serve];
        watched.server.documents.set(
          PATHS.feed,
          () => (answers.pop() ?? status(503))(),
        );
        const broken = ["fetch_status", "with status 503"] as const;
        await watched.refused(...broken);
        await expectSigError(() => watched.check(), ...broken);
        watched.publish([]);
        await expectNoAnswer(watched, ...ROLLED_BACK);
        watched.publish(watched.lines);
        await expectRecovered(watched);
      });
    }
  },
);

continuityTest(
  "every fault of a document is an error and never a decision",
  async (watch, t) => {
    const page = { headers: { "content-type": "text/html" } };
    const faults: readonly (readonly [string, string, unknown])[] = [
      ["metadata missing", PATHS.metadata, undefined],
      ["metadata 500", PATHS.metadata, status(500)],
      ["metadata not JSON", PATHS.metadata, "{"],
      ["metadata empty", PATHS.metadata, "{}"],
      ["keys missing", PATHS.jwks, undefined],
      ["keys 500", PATHS.jwks, status(500)],
      ["keys not JSON", PATHS.jwks, "[]"],
      ["keys that are secret", PATHS.jwks, '{"keys":[{"kty":"oct","k":"AA"}]}'],
      ["DID document 500", PATHS.did, status(500)],
      ["DID document of another", PATHS.did, '{"id":"did:web:x.example"}'],
      ["feed missing", PATHS.feed, undefined],
      ["feed redirected", PATHS.feed, status(302)],
      ["feed 206 unasked", PATHS.feed, status(206)],
      ["feed of a portal", PATHS.feed, () => new Response("<p>", page)],
      ["feed cut", PATHS.feed, "{"],
      ["feed of nothing", PATHS.feed, "\n"],
    ];
    for (const [name, path, served] of faults) {
      for (const isKnown of [false, true]) {
        await t.step(`${name}, ${isKnown ? "known" : "first"}`, async () => {
          await using watched = await watch(EVENTS, { maxAgeMs: 0 });
          const { consumer, did, server: { documents } } = watched;
          if (isKnown) await watched.check();
          const before = documents.get(path)!;
          if (served === undefined) documents.delete(path);
          else documents.set(path, served as typeof before);
          const asked = await Promise.allSettled([
            ...[watched.check(), watched.verify()],
            ...[consumer.state(did), consumer.observe(did)],
          ]);
          for (const { status } of asked) assertEquals(status, "rejected");
          const report = await consumer.report(did).catch(() => undefined);
          assert(!report?.valid);
          documents.set(path, before);
          assertEquals((await watched.check()).decision, "allow");
        });
      }
    }
  },
);
