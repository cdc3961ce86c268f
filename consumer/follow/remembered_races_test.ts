import { assert, assertEquals } from "@std/assert";
import type { ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import { createMemoryPinStore } from "../pins/memory_pin_store.ts";
import { type PinStore, pinStoreUnavailable } from "../pins/pin_store.ts";
import { WARNINGS_KEY } from "../pins/row_keys.ts";
import {
  type ConditionalServer,
  startConditionalServer,
} from "../../tests/kit/conditional_server.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { ALICE, day, revoke, upsert } from "../../tests/kit/events.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const [key] = await importTestKeys();
const QUESTION = { subject: ALICE, require: ["role=deploy"] };

/** An issuer whose feed grows, and consumers of one memory. */
async function withIssuer(
  work: (issuer: {
    readonly did: string;
    readonly pins: PinStore;
    readonly origin: string;
    readonly documents: ConditionalServer["documents"];
    fresh(more?: Partial<ConsumerOptions>): ReturnType<typeof createConsumer>;
    publish(
      events:
        readonly (ReturnType<typeof upsert> | ReturnType<typeof revoke>)[],
    ): Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  await using server = startConditionalServer();
  const { did, origin, documents } = server;
  const keys = [key!];
  for (const each of makeDocuments({ did, origin, keys, lines: [] })) {
    documents.set(...each);
  }
  const pins = createMemoryPinStore();
  const now = () => new Date("2026-06-01T00:00:00Z");
  const lines: string[] = [];
  await work({
    did,
    pins,
    origin,
    documents,
    fresh: (more) =>
      createConsumer({
        ...{ issuers: [did], allowPrivate: true, now, maxAge: 0, pins },
        ...more,
      }),
    async publish(events) {
      for (const event of events) {
        lines.push(await lineOf({ ...event, issuer: did }, key!));
      }
      documents.set(PATHS.feed, feedOf(lines));
    },
  });
}

/** A store that does something else where it is written. */
function around(store: PinStore, put: PinStore["put"]): PinStore {
  return {
    place: store.place,
    get: (issuer) => store.get(issuer),
    list: () => store.list(),
    rows: (ref, keys) => store.rows(ref, keys),
    all: (ref, prefix) => store.all(ref, prefix),
    stage: (ref, rows) => store.stage(ref, rows),
    staged: (ref, keys) => store.staged(ref, keys),
    unstage: (ref) => store.unstage(ref),
    remove: (issuer) => store.remove(issuer),
    close: () => store.close(),
    put,
  };
}

Deno.test("who was slower than pin remove and a first look does not write over that", async () => {
  await withIssuer(async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    await publish([upsert(2, { relationship_id: "r2", subject: "other" })]);
    let isFirst = true;
    const slow = around(pins, async (...args) => {
      if (isFirst) {
        isFirst = false;
        await pins.remove(did);
        await fresh().verify(did);
      }
      return await pins.put(...args);
    });
    await fresh({ pins: slow }).verify(did);
    assertEquals((await fresh().check(did, QUESTION)).decision, "allow");
  });
});

Deno.test("who asks comes to an end, however often others ask meanwhile", async () => {
  await withIssuer(async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    const whileOthersAsk = (times: number) => {
      let left = times;
      return around(pins, async (...args) => {
        if (left-- > 0) await fresh().verify(did);
        return await pins.put(...args);
      });
    };
    const first = (await pins.get(did))!.state;
    assertEquals(
      (await fresh({ pins: whileOthersAsk(Infinity) }).check(did, QUESTION))
        .decision,
      "allow",
    );
    // All of them see the same new event.
    await publish([upsert(2, { relationship_id: "r2", subject: "other" })]);
    const grown = await fresh({ pins: whileOthersAsk(Infinity) }).verify(did);
    assertEquals(grown.feed.verifiedEvents, 2);
    assertEquals((await pins.get(did))!.state, first);
    // Who reads everything writes it, once nobody is faster.
    const whole = fresh({ pins: whileOthersAsk(20), full: true });
    assertEquals((await whole.check(did, QUESTION)).decision, "allow");
    assert((await pins.get(did))!.state !== first);
    assertEquals((await fresh().state(did)).by_relationship_id.size, 2);
  });
});

Deno.test("an answer warns of the events that it knows, however far others are", async () => {
  await withIssuer(async ({ did, pins, fresh, publish }) => {
    const long = "long".repeat(200);
    await publish([upsert(1, { event_id: `1 ${long}` })]);
    await fresh().verify(did);
    let isFirst = true;
    const slow: PinStore = {
      ...around(pins, (...args) => pins.put(...args)),
      async rows(ref, keys) {
        if (isFirst && keys.includes(WARNINGS_KEY)) {
          isFirst = false;
          await publish([upsert(2, { event_id: `2 ${long}` })]);
          await fresh().verify(did);
        }
        return await pins.rows(ref, keys);
      },
    };
    const known = fresh({ pins: slow, maxAge: 60_000 });
    const { warnings, last_sequence } = await known.check(did, QUESTION);
    assertEquals(last_sequence, 1);
    assertEquals(warnings.map(({ sequence }) => sequence), [1]);
  });
});

Deno.test("what others have seen that is worse is not written over", async () => {
  await withIssuer(async ({ did, pins, fresh, publish, documents }) => {
    await publish([upsert(1), upsert(2)]);
    await fresh().verify(did);
    const whole = documents.get(PATHS.feed)!;
    for (const full of [false, true]) {
      await pins.remove(did);
      await fresh().verify(did);
      let isFirst = true;
      const slow = around(pins, async (...args) => {
        if (isFirst) {
          isFirst = false;
          documents.set(PATHS.feed, feedOf([]));
          await expectSigError(
            () => fresh().verify(did),
            "feed_rolled_back",
            "Cannot trust feed",
          );
          documents.set(PATHS.feed, whole);
        }
        return await pins.put(...args);
      });
      const { warnings } = await fresh({ pins: slow, full }).verify(did);
      assertEquals(warnings.map(({ code }) => code), [
        "history_was_inconsistent",
      ]);
    }
  });
});

Deno.test("what was seen at one place of a host is not answered for another one", async () => {
  await withIssuer(async ({ did, origin, fresh, publish, documents }) => {
    await publish([upsert(1)]);
    // Somebody may put files there, and has an older feed.
    documents.set(
      "/files/sig.json",
      String(documents.get(PATHS.metadata))
        .replace(PATHS.feed, "/files/feed.jsonl"),
    );
    documents.set("/files/feed.jsonl", documents.get(PATHS.feed)!);
    await publish([revoke(2)]);
    const files = fresh({ issuers: [`${origin}/files/sig.json`] });
    assertEquals((await files.check(did, QUESTION)).decision, "allow");
    const usual = fresh({ maxAge: 60_000 });
    const { decision, last_sequence } = await usual.check(did, QUESTION);
    assertEquals([decision, last_sequence], ["deny", 2]);
  });
});

Deno.test("what was written of a feed before a crash is not what the issuer said now", async () => {
  await withIssuer(async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    // Several steps, and the end of Alice's work in the last one.
    await publish([
      ...Array.from({ length: 600 }, (_, i) =>
        upsert(i + 2, {
          ...{ relationship_id: `x${i}`, subject: `x${i}` },
          issued_at: day(1),
        })),
      revoke(602, { issued_at: day(2), effective_at: day(2) }),
    ]);
    let writes = 0;
    const crashing = around(pins, (...args) => {
      if (++writes > 1) throw pinStoreUnavailable("of this test", "crashed");
      return pins.put(...args);
    });
    const later = () => new Date("2026-06-02T00:00:00Z");
    await expectSigError(
      () => fresh({ pins: crashing, now: later }).verify(did),
      "store_unavailable",
      "crashed",
    );
    const asked = fresh({ now: later, maxAge: 60_000 });
    const { decision, last_sequence } = await asked.check(did, QUESTION);
    assertEquals([decision, last_sequence], ["deny", 602]);
  });
});

Deno.test("a row that is no row of ours is told, not run into", async () => {
  await withIssuer(async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    for (const kind of ["s", "r", "b", "d"]) {
      for (const text of ["null", "{}", "[null]", "7", "no JSON"]) {
        const damaged: PinStore = {
          ...around(pins, (...args) => pins.put(...args)),
          rows: async (ref, keys) => {
            const found = await pins.rows(ref, keys);
            return found.map((row, i) =>
              keys[i]!.startsWith(kind) ? text : row
            );
          },
        };
        await expectSigError(
          () => fresh({ pins: damaged }).check(did, { ...QUESTION, asOf: 1 }),
          "store_unavailable",
          "is damaged",
        );
      }
    }
  });
});

Deno.test("a state that another process replaces is read anew, wherever that was", async () => {
  for (const at of [1, 2, 3, 4, 5]) {
    await withIssuer(async ({ did, pins, fresh, publish }) => {
      // With a warning, which is a row that is read first of all.
      const nobodys = revoke(2, { relationship_id: "r9" });
      await publish([upsert(1), nobodys]);
      await fresh().verify(did);
      await publish([revoke(3)]);
      let readings = 0;
      const replaceAt = async () => {
        if (++readings !== at) return;
        await pins.remove(did);
        await fresh().verify(did);
      };
      const moving: PinStore = {
        ...around(pins, (...args) => pins.put(...args)),
        async rows(ref, keys) {
          await replaceAt();
          return await pins.rows(ref, keys);
        },
        async *all(ref, prefix) {
          await replaceAt();
          yield* pins.all(ref, prefix);
        },
      };
      const answer = await fresh({ pins: moving }).check(did, QUESTION);
      assertEquals(answer.decision, "deny");
      assertEquals(answer.reasons.map(({ code }) => code), ["revoked"]);
      assert(readings > at);
    });
  }
});
