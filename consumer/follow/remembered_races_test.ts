import { assertEquals } from "@std/assert";
import type { PinStore } from "../memory/open_pin_store.ts";
import { removePin } from "./manage_pins.ts";
import type { Consumer } from "../consumer.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type RememberedIssuer,
  rememberIssuer,
} from "../testdata/remembered_issuer.ts";

const [key] = await importTestKeys();

// promise: An older state never overwrites a newer one; no answer comes from
//   incomplete records.

const ROLLED_BACK = ["feed_rolled_back", "Cannot trust feed"] as const;
const REWRITTEN = ["feed_rewritten", "Cannot trust feed"] as const;
const INCONSISTENT = ["history_was_inconsistent"] as const;

/** Returns a store that runs work once, before its first write. */
function before(store: PinStore, work: () => Promise<unknown>): PinStore {
  let once: typeof work | undefined = work;
  return {
    ...store,
    async put(...args) {
      const first = once;
      once = undefined;
      await first?.();
      return await store.put(...args);
    },
  };
}

/** Registers a test of processes that share the memory of an issuer. */
function racesTest(
  name: string,
  work: (issuer: RememberedIssuer) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using issuer = await rememberIssuer();
    await work(issuer);
  });
}

racesTest(
  "a slow process does not overwrite a pin that was removed and created again",
  async ({ did, pins, fresh, append, verify }) => {
    await append(upsert(1));
    await verify();
    await append(upsert(2, { relationship_id: "r2", subject: "other" }));
    const slow = before(pins, async () => {
      await removePin(pins, did);
      await verify();
    });
    await verify({ pins: slow });
    assertEquals((await fresh().check(did, QUESTION)).decision, "allow");
    assertEquals((await fresh().state(did)).last_sequence, 2);
  },
);

racesTest(
  "a slow process does not restore a pin that was removed",
  async ({ did, pins, append, verify, pin, wait }) => {
    await append(upsert(1));
    await verify();
    await append(upsert(2));
    wait(1_000);
    await verify({ pins: before(pins, () => removePin(pins, did)) });
    assertEquals((await pin()).first_seen, "2026-06-01T00:00:01Z");
  },
);

racesTest(
  "a question is answered while other processes refresh repeatedly",
  async ({ did, pins, fresh, append, verify }) => {
    await append(upsert(1));
    await verify();
    const whileOthersAsk = () =>
      before(pins, async () => {
        for (let i = 0; i < 20; i++) await verify();
      });
    const answer = await fresh({ pins: whileOthersAsk() }).check(did, QUESTION);
    assertEquals(answer.decision, "allow");
    // All processes see the same new event.
    await append(upsert(2, { relationship_id: "r2", subject: "other" }));
    const grown = await verify({ pins: whileOthersAsk() });
    assertEquals(grown.feed.verifiedEvents, 2);
    const whole = fresh({ pins: whileOthersAsk(), full: true });
    assertEquals((await whole.check(did, QUESTION)).decision, "allow");
    assertEquals((await fresh().state(did)).by_relationship_id.size, 2);
  },
);

racesTest(
  "an older state does not overwrite a newer state",
  async ({ did, pins, fresh, append, verify }) => {
    await append(upsert(1));
    await verify();
    await append(upsert(2));
    const slow = before(pins, async () => {
      await append(revoke(3));
      await verify();
    });
    const { state } = await verify({ pins: slow });
    assertEquals(state.last_sequence, 3);
    assertEquals((await fresh().check(did, QUESTION)).decision, "deny");
  },
);

racesTest(
  "a contradiction that another process has seen is not overwritten",
  async ({ did, pins, append, verify, server: { documents } }) => {
    await append(upsert(1), upsert(2));
    await verify();
    for (const full of [false, true]) {
      await removePin(pins, did);
      await verify();
      await append(upsert(full ? 4 : 3));
      const whole = documents.get(PATHS.feed)!;
      const slow = before(pins, async () => {
        documents.set(PATHS.feed, feedOf([]));
        await expectSigError(verify, ...ROLLED_BACK);
        documents.set(PATHS.feed, whole);
      });
      const { warnings } = await verify({ pins: slow, full });
      assertEquals(warnings.map(({ code }) => code), [...INCONSISTENT]);
    }
  },
);

racesTest(
  "watching yields no event of a history that another process replaced",
  async ({ did, pins, fresh, append, verify, server: { documents } }) => {
    const watched = async (watcher: Consumer, from?: number) => {
      const options = { once: true, from };
      const events = await Array.fromAsync(watcher.watch(did, options));
      return events.map(({ event_id }) => event_id);
    };
    await append(upsert(1));
    const first = new TextDecoder().decode(
      documents.get(PATHS.feed) as Uint8Array,
    );
    assertEquals(await watched(fresh(), 1), ["e1"]);
    await append(upsert(2));
    const whole = documents.get(PATHS.feed)!;
    const other = upsert(2, { event_id: "other", issuer: did });
    documents.set(PATHS.feed, `${first}${await lineOf({ ...other }, key)}\n`);
    const slow = before(pins, async () => {
      await removePin(pins, did);
      documents.set(PATHS.feed, whole);
      await verify();
    });
    assertEquals(await watched(fresh({ pins: slow })), ["e2"]);
  },
);

racesTest(
  "a state from one URL of a host does not answer for another URL",
  async ({ did, fresh, append, server: { origin, documents } }) => {
    await append(upsert(1));
    // A user can upload files to this path, and serves an older feed.
    documents.set(
      "/files/sig.json",
      String(documents.get(PATHS.metadata))
        .replace(PATHS.feed, "/files/feed.jsonl"),
    );
    documents.set("/files/feed.jsonl", documents.get(PATHS.feed)!);
    await append(revoke(2));
    const files = fresh({ issuers: [`${origin}/files/sig.json`] });
    assertEquals((await files.check(did, QUESTION)).decision, "allow");
    const usual = fresh({ maxAgeMs: 60_000 });
    const { decision, last_sequence } = await usual.check(did, QUESTION);
    assertEquals([decision, last_sequence], ["deny", 2]);
  },
);

racesTest(
  "a contradiction seen by one process stops the answers of other processes",
  async ({ did, fresh, append, verify, server: { documents } }) => {
    await append(upsert(1), upsert(2));
    const running = fresh({ maxAgeMs: 60_000 });
    assertEquals((await running.check(did, QUESTION)).decision, "allow");
    const whole = documents.get(PATHS.feed)!;
    documents.set(PATHS.feed, feedOf([]));
    for (const consumer of [fresh(), running]) {
      const ask = () => consumer.check(did, QUESTION);
      await expectSigError(ask, ...ROLLED_BACK);
    }
    documents.set(PATHS.feed, whole);
    await verify();
    const { warnings } = await running.check(did, QUESTION);
    assertEquals(warnings.map(({ code }) => code), [...INCONSISTENT]);
  },
);

racesTest(
  "a running process continues from its own state after other processes have read more",
  async ({ did, fresh, append, verify, server: { documents } }) => {
    await append(upsert(1));
    const running = fresh();
    await running.verify(did);
    await append(upsert(2));
    await verify();
    await append(revoke(3));
    assertEquals((await running.check(did, QUESTION)).last_sequence, 3);
    // Other processes have seen an event that the issuer then removes.
    await append(upsert(4));
    await verify();
    const lines = new TextDecoder().decode(
      documents.get(PATHS.feed) as Uint8Array,
    )
      .split("\n").slice(0, 3);
    documents.set(PATHS.feed, feedOf(lines));
    await expectSigError(
      () => running.check(did, QUESTION),
      "feed_rolled_back",
      "the feed ends at sequence 3, but 4 events are remembered",
    );
  },
);

racesTest(
  "a running process does not continue from a history that was replaced",
  async (
    { did, fresh, append, verify, accept, server: { documents } },
  ) => {
    await append(upsert(1), upsert(2));
    const [first, second] = [fresh(), fresh()];
    for (const running of [first, second]) await running.verify(did);
    const replaced = documents.get(PATHS.feed)!;
    // Of the same length, with the same last line.
    const others = [upsert(1, { roles: ["review"] }), upsert(2), upsert(3)];
    const lines = await Promise.all(
      others.map((each) => lineOf({ ...each, issuer: did }, key)),
    );
    documents.set(PATHS.feed, feedOf(lines.slice(0, 2)));
    await expectSigError(verify, ...REWRITTEN);
    await accept();
    // With the entity tag that this process still has.
    documents.set(PATHS.feed, replaced);
    await expectSigError(() => first.verify(did), ...REWRITTEN);
    documents.set(PATHS.feed, feedOf(lines));
    for (const running of [first, second]) {
      assertEquals((await running.verify(did)).state.last_sequence, 3);
    }
  },
);

for (const maxAgeMs of [0, 60_000]) {
  racesTest(
    `an event that another process sees right after the pin was read is part of the answer (maximum age ${maxAgeMs})`,
    async ({ did, pins, fresh, append, verify }) => {
      await append(upsert(1));
      await verify();
      await append(revoke(2));
      let other: Promise<unknown> | undefined;
      const between: PinStore = {
        ...pins,
        async get(...args) {
          const found = await pins.get(...args);
          await (other ??= verify());
          return found;
        },
      };
      const consumer = fresh({ pins: between, maxAgeMs });
      assertEquals((await consumer.check(did, QUESTION)).decision, "deny");
    },
  );
}

racesTest(
  "a contradiction is recorded although another process rewrites the same lines",
  async ({ did, pins, fresh, append, verify, server: { documents } }) => {
    await append(upsert(1), revoke(2));
    await verify();
    const feed = documents.get(PATHS.feed)!;
    const metadata = documents.get(PATHS.metadata)!;
    documents.set(PATHS.feed, "");
    const racing = before(pins, async () => {
      documents.set(PATHS.feed, feed);
      // The same metadata in different bytes.
      documents.set(PATHS.metadata, `${metadata}\n`);
      await verify();
    });
    await expectSigError(() => verify({ pins: racing }), ...ROLLED_BACK);
    const { decision, warnings } = await fresh().check(did, QUESTION);
    assertEquals(decision, "deny");
    assertEquals(warnings.map(({ code }) => code), [...INCONSISTENT]);
  },
);
