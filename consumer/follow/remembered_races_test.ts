import { assert, assertEquals } from "@std/assert";
import { nameKids, shortenKids } from "../memory/pin.ts";
import type { PinStore } from "../memory/sqlite_lines.ts";
import { removePin } from "./manage_pins.ts";
import { feedOf, PATHS } from "../../tests/kit/test_issuer.ts";
import { ALICE, revoke, upsert } from "../../tests/kit/events.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type RememberedIssuer,
  withIssuer,
} from "../testdata/remembered_issuer.ts";

const QUESTION = { subject: ALICE, require: ["role=deploy"] };

/** Does something once, right before something is written. */
function before(store: PinStore, work: () => Promise<void>): PinStore {
  let isFirst = true;
  const once = async () => {
    if (!isFirst) return;
    isFirst = false;
    await work();
  };
  const { lines } = store;
  return {
    ...store,
    async put(...args) {
      await once();
      return await store.put(...args);
    },
    ...(lines === undefined ? {} : { lines: beforeCommit(lines, once) }),
  };
}

function beforeCommit(
  lines: NonNullable<PinStore["lines"]>,
  work: () => Promise<void>,
): NonNullable<PinStore["lines"]> {
  const around = <T extends object>(
    target: T,
    name: string,
    replace: (value: (...args: unknown[]) => unknown) => unknown,
  ): T =>
    new Proxy(target, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== "function") return value;
        return property === name
          ? replace(value.bind(target))
          : value.bind(target);
      },
    });
  return around(
    lines,
    "begin",
    (begin) => () =>
      around(
        begin() as object,
        "commit",
        (commit) => async (...args: unknown[]) => {
          await work();
          return await commit(...args);
        },
      ),
  );
}

/** What holds where lines are stored holds where pins alone are. */
function racesTest(
  name: string,
  work: (issuer: RememberedIssuer) => Promise<void>,
): void {
  for (const kind of ["file", "records"] as const) {
    Deno.test(`${name} (${kind})`, () => withIssuer(work, kind));
  }
}

racesTest(
  "a slower process does not write over pin remove and a first look",
  async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    await publish([upsert(2, { relationship_id: "r2", subject: "other" })]);
    const slow = before(pins, async () => {
      await removePin(pins, did);
      await fresh().verify(did);
    });
    await fresh({ pins: slow }).verify(did);
    assertEquals((await fresh().check(did, QUESTION)).decision, "allow");
    assertEquals((await fresh().state(did)).last_sequence, 2);
  },
);

racesTest(
  "a question is answered, however often others ask meanwhile",
  async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    const whileOthersAsk = () => {
      const asking: PinStore = before(pins, async () => {
        for (let i = 0; i < 20; i++) await fresh().verify(did);
      });
      return asking;
    };
    const answer = await fresh({ pins: whileOthersAsk() }).check(did, QUESTION);
    assertEquals(answer.decision, "allow");
    // All of them see the same new event.
    await publish([upsert(2, { relationship_id: "r2", subject: "other" })]);
    const grown = await fresh({ pins: whileOthersAsk() }).verify(did);
    assertEquals(grown.feed.verifiedEvents, 2);
    const whole = fresh({ pins: whileOthersAsk(), full: true });
    assertEquals((await whole.check(did, QUESTION)).decision, "allow");
    assertEquals((await fresh().state(did)).by_relationship_id.size, 2);
  },
);

racesTest(
  "an older view does not write over a newer one",
  async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1)]);
    await fresh().verify(did);
    await publish([upsert(2)]);
    const slow = before(pins, async () => {
      await publish([revoke(3)]);
      await fresh().verify(did);
    });
    const { state } = await fresh({ pins: slow }).verify(did);
    assertEquals(state.last_sequence, 3);
    assertEquals((await fresh().check(did, QUESTION)).decision, "deny");
  },
);

racesTest(
  "a contradiction that others have seen is not written over",
  async ({ did, pins, fresh, publish, server: { documents } }) => {
    await publish([upsert(1), upsert(2)]);
    await fresh().verify(did);
    for (const full of [false, true]) {
      await removePin(pins, did);
      await fresh().verify(did);
      await publish([upsert(full ? 4 : 3)]);
      const whole = documents.get(PATHS.feed)!;
      const slow = before(pins, async () => {
        documents.set(PATHS.feed, feedOf([]));
        await expectSigError(
          () => fresh().verify(did),
          "feed_rolled_back",
          "Cannot trust feed",
        );
        documents.set(PATHS.feed, whole);
      });
      const { warnings } = await fresh({ pins: slow, full }).verify(did);
      assertEquals(warnings.map(({ code }) => code), [
        "history_was_inconsistent",
      ]);
    }
  },
);

racesTest(
  "what was seen at one place of a host is not answered for another one",
  async ({ did, fresh, publish, server: { origin, documents } }) => {
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
    const usual = fresh({ maxAgeMs: 60_000 });
    const { decision, last_sequence } = await usual.check(did, QUESTION);
    assertEquals([decision, last_sequence], ["deny", 2]);
  },
);

racesTest(
  "a contradiction that one process saw ends the answers of another",
  async ({ did, fresh, publish, server: { documents } }) => {
    await publish([upsert(1), upsert(2)]);
    const running = fresh({ maxAgeMs: 60_000 });
    assertEquals((await running.check(did, QUESTION)).decision, "allow");
    const whole = documents.get(PATHS.feed)!;
    documents.set(PATHS.feed, feedOf([]));
    for (const consumer of [fresh(), running]) {
      await expectSigError(
        () => consumer.check(did, QUESTION),
        "feed_rolled_back",
        "Cannot trust feed",
      );
    }
    documents.set(PATHS.feed, whole);
    await fresh().verify(did);
    const { warnings } = await running.check(did, QUESTION);
    assertEquals(warnings.map(({ code }) => code), [
      "history_was_inconsistent",
    ]);
  },
);

racesTest(
  "a running process goes on from what it holds, whatever others have read",
  async ({ did, fresh, publish, server: { documents } }) => {
    await publish([upsert(1)]);
    const running = fresh();
    await running.verify(did);
    await publish([upsert(2)]);
    await fresh().verify(did);
    await publish([revoke(3)]);
    assertEquals((await running.check(did, QUESTION)).last_sequence, 3);
    // Others have seen more than this process, and the issuer takes it back.
    await publish([upsert(4)]);
    await fresh().verify(did);
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

Deno.test("a history that another process replaces is read again", () =>
  withIssuer(async ({ did, pins, fresh, publish }) => {
    await publish([upsert(1), revoke(2, { relationship_id: "r9" })]);
    await fresh().verify(did);
    await publish([revoke(3)]);
    for (const subjects of [true, false]) {
      let isFirst = true;
      const lines = new Proxy(pins.lines!, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          const isRead = name === (subjects ? "about" : "bytes");
          if (!isRead) return value.bind(target);
          return (...args: unknown[]) => {
            if (!isFirst) return value.apply(target, args);
            isFirst = false;
            const replaced = removePin(pins, did)
              .then(() => fresh().verify(did));
            if (!subjects) {
              return (async function* () {
                await replaced;
                yield* value.apply(target, args);
              })();
            }
            return replaced.then(() => value.apply(target, args));
          };
        },
      });
      const moving = fresh({ pins: { ...pins, lines } });
      if (subjects) {
        const answer = await moving.check(did, QUESTION);
        assertEquals(answer.reasons.map(({ code }) => code), ["revoked"]);
      } else {
        const { by_relationship_id } = await moving.state(did);
        assertEquals(by_relationship_id.get("r1")?.status, "revoked");
      }
      assertEquals(isFirst, false);
    }
  }));

Deno.test("a pin of any size fits a record, and compares keys by their names", async () => {
  const kids = Array.from({ length: 200 }, (_, i) => `${i}-`.padEnd(256, "k"));
  const pin = {
    keys: Object.fromEntries(kids.map((kid) => [kid, "t".repeat(43)])),
  };
  const stored = await shortenKids(pin.keys);
  assert(JSON.stringify(stored).length < 30_000);
  assertEquals(await nameKids(stored, kids), pin.keys);
  const { "sha256:x": lost, ...named } = await nameKids(
    { "sha256:x": "t", short: "u" },
    kids,
  );
  assertEquals([lost, named], ["t", { short: "u" }]);
});

for (const maxAgeMs of [0, 60_000]) {
  Deno.test(`lines that grow right after the pin was read are not reported as damage (maximum age ${maxAgeMs})`, () =>
    withIssuer(async ({ did, pins, fresh, publish }) => {
      await publish([upsert(1)]);
      await fresh().verify(did);
      await publish([revoke(2)]);
      let isFirst = true;
      const between: PinStore = {
        ...pins,
        async get(...args) {
          const found = await pins.get(...args);
          if (isFirst) {
            isFirst = false;
            await fresh().verify(did);
          }
          return found;
        },
      };
      const consumer = fresh({ pins: between, maxAgeMs });
      assertEquals((await consumer.check(did, QUESTION)).decision, "deny");
    }));
}

Deno.test("a contradiction is noted beside what others have just stored with the same lines", () =>
  withIssuer(async ({ did, pins, fresh, publish, server: { documents } }) => {
    await publish([upsert(1), revoke(2)]);
    await fresh().verify(did);
    const feed = documents.get(PATHS.feed)!;
    const metadata = documents.get(PATHS.metadata)!;
    documents.set(PATHS.feed, "");
    const racing = before(pins, async () => {
      documents.set(PATHS.feed, feed);
      // The same issuer in other bytes.
      documents.set(PATHS.metadata, `${metadata}\n`);
      await fresh().verify(did);
    });
    await expectSigError(
      () => fresh({ pins: racing }).verify(did),
      "feed_rolled_back",
      "Cannot trust feed",
    );
    const { decision, warnings } = await fresh().check(did, QUESTION);
    assertEquals(decision, "deny");
    assertEquals(warnings.map(({ code }) => code), [
      "history_was_inconsistent",
    ]);
  }));
