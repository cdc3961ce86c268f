// A file of SQLite that somebody tidied by hand, or restored in part.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createConsumer } from "../create_consumer.ts";
import { openPinStore } from "../pins/open_pin_store.ts";
import type { PinStore } from "../pins/pin_store.ts";
import { showPin } from "./pin_records.ts";
import { startConditionalServer } from "../../tests/kit/conditional_server.ts";
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
const REQUIRE = ["role=deploy"];
const BOB = "did:web:bob.example";
const STRANGER = "did:web:stranger.example";
const ROWS = {
  subject: `s=${ALICE}`,
  relationship: "r=r1",
  list: "x00000000",
};

interface Tidied {
  readonly did: string;
  readonly place: string;
  readonly pins: PinStore;
  /** A process that has just begun. */
  fresh(): ReturnType<typeof createConsumer>;
  /** Takes a row out of the file. */
  lose(row: string): void;
  /** Takes back the last event. */
  unpublish(): void;
  publish(event: ReturnType<typeof upsert | typeof revoke>): Promise<void>;
}

/** Alice and Bob are known, and a row of the file is gone. */
const withLost = (row: string, work: (tidied: Tidied) => Promise<void>) =>
  withKnown(async (tidied) => {
    tidied.lose(row);
    await work(tidied);
  });

/** Alice and Bob are known. */
async function withKnown(
  work: (tidied: Tidied) => Promise<void>,
): Promise<void> {
  await using server = startConditionalServer();
  const { did, origin, documents } = server;
  const made = makeDocuments({ did, origin, keys: [key!], lines: [] });
  for (const each of made) documents.set(...each);
  const lines: string[] = [];
  const publish: Tidied["publish"] = async (event) => {
    lines.push(await lineOf({ ...event, issuer: did }, key!));
    documents.set(PATHS.feed, feedOf(lines));
  };
  await publish(upsert(1, { relationship_id: "r1", subject: ALICE }));
  await publish(upsert(2, { relationship_id: "r2", subject: BOB }));
  const folder = await Deno.makeTempDir();
  const pins = await openPinStore(`${folder}/pins.db`);
  const fresh = () =>
    createConsumer({
      ...{ issuers: [did], allowPrivate: true, maxAge: 0, pins },
      now: () => new Date("2026-06-01T00:00:00Z"),
    });
  try {
    for (const [subject, decision] of [[ALICE, "allow"], [STRANGER, "deny"]]) {
      const answer = await fresh().check(did, {
        ...{ subject: subject!, require: REQUIRE },
      });
      assertEquals(answer.decision, decision);
    }
    const lose = (row: string) => {
      const file = new DatabaseSync(`${folder}/pins.db`);
      const { changes } = file.prepare("DELETE FROM rows WHERE key=?").run(row);
      assertEquals(Number(changes), 1);
      file.close();
    };
    const unpublish = () => void lines.pop();
    const { place } = pins;
    await work({ did, place, pins, fresh, lose, unpublish, publish });
  } finally {
    await pins.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function refuses(place: string, asking: () => Promise<unknown>) {
  const { context } = await expectSigError(
    asking,
    "store_unavailable",
    "is damaged",
  );
  assertEquals(context.place, place);
}

for (const [what, row] of Object.entries(ROWS)) {
  Deno.test(`a row that was lost is no deny: ${what}`, () =>
    withLost(row, async ({ did, place, fresh }) => {
      const ask = (subject: string) => () =>
        fresh().check(did, { subject, require: REQUIRE });
      // Where the row is there, nobody asks the list about it.
      if (row === ROWS.list) await refuses(place, ask(STRANGER));
      else await refuses(place, ask(ALICE));
      assertEquals((await ask(BOB)()).decision, "allow");
      if (row === ROWS.relationship) {
        await refuses(place, () => fresh().state(did));
      }
    }));
}

Deno.test("nothing is written over a row that was lost", async () => {
  for (const row of [ROWS.subject, ROWS.relationship]) {
    await withLost(row, async ({ did, place, fresh, publish }) => {
      await publish(
        revoke(3, {
          ...{ relationship_id: "r1", subject: ALICE, issued_at: day(3) },
          ...{ revokes_relationship_id: "r1", effective_at: day(3) },
        }),
      );
      for (const subject of [ALICE, BOB]) {
        await refuses(
          place,
          () => fresh().check(did, { subject, require: REQUIRE }),
        );
      }
    });
  }
});

Deno.test("an incident keeps its place when the rows that told it are lost", () =>
  withKnown(async ({ did, pins, fresh, lose, publish, unpublish }) => {
    unpublish();
    await publish(upsert(2, { relationship_id: "r3", subject: BOB }));
    const look = (message: string) =>
      expectSigError(() => fresh().verify(did), "feed_rewritten", message);
    await look("event 2 is not the one that is remembered");
    const { incident } = await showPin(pins, did);
    lose("b000000000000");
    await look("one of the first 2 events is not the one that is remembered");
    assertEquals((await showPin(pins, did)).incident, incident);
  }));

Deno.test("rows that are lost hide no contradiction", () =>
  withLost(
    "b000000000000",
    async ({ did, pins, fresh, publish, unpublish }) => {
      unpublish();
      await publish(upsert(2, { relationship_id: "r3", subject: BOB }));
      await expectSigError(
        () => fresh().verify(did),
        "feed_rewritten",
        "one of the first 2 events is not the one that is remembered",
      );
      const { incident } = await showPin(pins, did);
      assertEquals(incident?.code, "feed_rewritten");
    },
  ));
