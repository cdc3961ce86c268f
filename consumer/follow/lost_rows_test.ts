// A file of SQLite that somebody tidied by hand, or restored in part.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createConsumer } from "../create_consumer.ts";
import { openPinStore } from "../pins/open_pin_store.ts";
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
  /** A process that has just begun. */
  fresh(): ReturnType<typeof createConsumer>;
  publish(event: ReturnType<typeof upsert | typeof revoke>): Promise<void>;
}

/** Alice and Bob are known, and a row of the file is gone. */
async function withLost(
  row: string,
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
    const file = new DatabaseSync(`${folder}/pins.db`);
    const { changes } = file.prepare("DELETE FROM rows WHERE key=?").run(row);
    assertEquals(Number(changes), 1);
    file.close();
    await work({ did, place: pins.place, fresh, publish });
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
