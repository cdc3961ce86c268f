// A file that somebody changed by hand, or restored in part.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createConsumer } from "../create_consumer.ts";
import { listPins, openPinStore, removePin, showPin } from "../pins.ts";
import { startConditionalServer } from "../../tests/kit/conditional_server.ts";
import { ALICE, day, revoke, upsert } from "../../tests/kit/events.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key1] = await importTestKeys();
const BOB = "did:web:bob.example";
const CAROL = "did:web:carol.example";
const DAVE = "did:web:dave.example";
const NOW = () => new Date("2026-06-01T00:00:00Z");
const REQUIRE = ["role=deploy"];

/**
 * Alice is active, Bob was revoked, Carol has one event alone; what Dave had went
 * to Alice.
 */
const EVENTS = [
  upsert(1, { relationship_id: "r1", subject: ALICE }),
  upsert(2, { relationship_id: "r2", subject: BOB }),
  revoke(3, { relationship_id: "r2", subject: BOB }),
  upsert(4, { relationship_id: "r4", subject: CAROL }),
  upsert(5, { relationship_id: "r5", subject: DAVE }),
  upsert(6, { relationship_id: "r5", subject: ALICE }),
];

interface Remembered {
  readonly did: string;
  readonly path: string;
  /** What a process that has just begun answers. */
  decide(subject: string, asOf?: string): Promise<string>;
  /** Changes the closed file; says how many rows. */
  change(sql: string): void;
  publish(event: ReturnType<typeof upsert>): Promise<void>;
}

/** An issuer whose feed is remembered in a file; the server stays the same. */
async function withRemembered(
  work: (remembered: Remembered) => Promise<void>,
  events: readonly { readonly sequence: number }[] = EVENTS,
): Promise<void> {
  await using server = startConditionalServer();
  const { did, origin, documents } = server;
  const made = makeDocuments({ did, origin, keys: [key1!], lines: [] });
  for (const each of made) documents.set(...each);
  const lines: string[] = [];
  const publish: Remembered["publish"] = async (event) => {
    lines.push(await lineOf({ ...event, issuer: did }, key1!));
    documents.set(PATHS.feed, feedOf(lines));
  };
  for (const event of events) {
    await publish(event as ReturnType<typeof upsert>);
  }
  await using file = await openPinFile();
  const { path } = file;
  const consumerWith = (pins: typeof file.pins, maxAgeMs: number) =>
    createConsumer({
      ...{ issuers: [did], allowPrivate: true, now: NOW, pins, maxAgeMs },
    });
  const consumer = consumerWith(file.pins, 0);
  await consumer.verify(did);
  for await (const _ of consumer.watch(did, { once: true })) assert(false);
  await file.pins.close();
  await work({
    did,
    path,
    publish,
    async decide(subject, asOf) {
      const pins = await openPinStore(path);
      try {
        // Nobody asks the issuer: what is remembered is young enough.
        const consumer = consumerWith(pins, 60_000);
        const question = { subject, require: REQUIRE, asOf };
        return (await consumer.check(did, question)).decision;
      } finally {
        await pins.close();
      }
    },
    change(sql) {
      const database = new DatabaseSync(path);
      try {
        const changes = database.prepare(sql).run().changes;
        assert(changes > 0, sql);
      } finally {
        database.close();
      }
    },
  });
}

Deno.test("what is remembered answers a new process", () =>
  withRemembered(async ({ decide }) => {
    assertEquals(await decide(ALICE), "allow");
    assertEquals(await decide(BOB), "deny");
    assertEquals(await decide(CAROL), "allow");
    assertEquals(await decide(DAVE), "deny");
    assertEquals(await decide("did:web:nobody.example"), "deny");
  }));

const asText = (column: string, from: string, to: string) =>
  `UPDATE record SET text=replace(text, '${from}', '${to}') WHERE ${column}`;
const PIN = "kind='pin'";
const LINE = "line=CAST(replace(CAST(line AS TEXT)";

/** One field, who is asked about, and what the field is called in the error. */
const ALTERED: readonly (readonly [
  what: string,
  sql: string,
  subject: string,
  message: RegExp,
])[] = [
  ...([
    ['"sequence":6', '"sequence":5'],
    ['"last_seen":"2026', '"last_seen":"2027'],
    ['"unusable":false', '"unusable":true'],
    ['"policy":"reject', '"policy":"ignore'],
    ['"table":1', '"table":2'],
    ['"bytes":', '"bytes":1'],
    ['"incident":null', '"incident":nul'],
  ] as const).map(([from, to]) =>
    [
      `of the pin: ${from}`,
      asText(PIN, from, to),
      ALICE,
      /the pin of \S+ is damaged/,
    ] as const
  ),
  [
    "a pin without its checksum",
    `UPDATE record SET text=substr(text, 66) WHERE ${PIN}`,
    ALICE,
    /the pin of \S+ is damaged/,
  ],
  [
    "a revoke that is gone",
    "DELETE FROM event_1 WHERE sequence=3",
    BOB,
    /the lines of \S+ are not as many as its pin says: it is damaged/,
  ],
  [
    "another line that is gone",
    "DELETE FROM event_1 WHERE sequence=1",
    BOB,
    /the lines of \S+ are not as many as its pin says/,
  ],
  [
    "whom a revoke is about",
    `UPDATE event_1 SET subject='${ALICE}' WHERE sequence=3`,
    BOB,
    /lines of \S+ about a subject is damaged/,
  ],
  [
    "whom a single event is about",
    `UPDATE event_1 SET subject='${ALICE}' WHERE sequence=4`,
    CAROL,
    /lines of \S+ about a subject is damaged/,
  ],
  [
    "the relationship of a revoke",
    "UPDATE event_1 SET relationship='r9' WHERE sequence=3",
    BOB,
    /the stored line 3 of \S+ is damaged/,
  ],
  [
    "the sequence of a line nobody asks about",
    "UPDATE event_1 SET sequence=-1 WHERE sequence=1",
    BOB,
    /the lines of \S+ are not as many as its pin says/,
  ],
  [
    "the event_id of a line",
    "UPDATE event_1 SET event_id='e9' WHERE sequence=1",
    ALICE,
    /the stored line 1 of \S+ is damaged/,
  ],
  [
    "the sequence of a line",
    "UPDATE event_1 SET sequence=7 WHERE sequence=1",
    ALICE,
    /the lines of \S+ are not as many as its pin says/,
  ],
  [
    "the relationship of a line that took it from another subject",
    "UPDATE event_1 SET relationship='r9' WHERE sequence=6",
    DAVE,
    /the stored line 6 of \S+ is damaged/,
  ],
  [
    "a number too large for us",
    "UPDATE event_1 SET sequence=9223372036854775807 WHERE sequence=1",
    ALICE,
    /the file is damaged/,
  ],
  [
    "a pin that is gone",
    `DELETE FROM record WHERE ${PIN}`,
    BOB,
    /the pin of \S+ is missing: the store is damaged/,
  ],
  [
    "a pin that ends",
    `UPDATE record SET expires_at=1 WHERE ${PIN}`,
    BOB,
    /the pin of \S+ is missing/,
  ],
  [
    "a pin under another name",
    `UPDATE record SET id='did:web:bob.example' WHERE ${PIN}`,
    BOB,
    /the pin of \S+ is missing/,
  ],
  [
    "a pin with the text of a cursor",
    `UPDATE record SET text=(SELECT text FROM record WHERE kind='cursor') WHERE ${PIN}`,
    BOB,
    /the pin of \S+ is damaged/,
  ],
  [
    "a signature",
    `UPDATE event_1 SET ${LINE}, '"signature":"', '"signature":"A') AS BLOB) WHERE sequence=1`,
    ALICE,
    /the stored line 1 of \S+ is damaged/,
  ],
  [
    "a line in the place of another",
    "UPDATE event_1 SET line=(SELECT line FROM event_1 WHERE sequence=2) WHERE sequence=3",
    BOB,
    /the stored line 3 of \S+ is damaged/,
  ],
  [
    "a line that is text",
    "UPDATE event_1 SET line=CAST(line AS TEXT) WHERE sequence=1",
    ALICE,
    /a stored line is damaged/,
  ],
  [
    "how many lines are about a subject",
    `UPDATE subject_1 SET lines=0 WHERE subject='${ALICE}'`,
    ALICE,
    /lines of \S+ about a subject is damaged/,
  ],
  [
    "a subject that is in no list",
    `DELETE FROM subject_1 WHERE subject='${BOB}'`,
    "did:web:nobody.example",
    /the list of subjects of \S+ is damaged/,
  ],
  [
    "what belongs to the lines",
    "UPDATE attachment SET bytes=CAST(replace(CAST(bytes AS TEXT), 'EdDSA', 'ES256') || ' ' AS BLOB)",
    ALICE,
    /what is stored with the lines of \S+ is damaged/,
  ],
  [
    "what belongs to the lines, which is a number",
    "UPDATE attachment SET bytes=1",
    ALICE,
    /what is stored with the lines of \S+ is damaged/,
  ],
  [
    "what belongs to the lines, which is gone",
    "DELETE FROM attachment",
    ALICE,
    /what is stored with the lines of \S+ is damaged/,
  ],
];

for (const [what, sql, subject, message] of ALTERED) {
  Deno.test(`one altered field never gives an answer: ${what}`, () =>
    withRemembered(async ({ decide, change, path }) => {
      change(sql);
      const error = await expectSigError(
        () => decide(subject),
        "store_unavailable",
        `Cannot use store ${path}: `,
      );
      assert(message.test(error.message), error.message);
      assertEquals(error.context.place, path);
    }));
}

Deno.test("an older copy of the pin's row never gives an answer", () =>
  withRemembered(async ({ did, decide, change, publish, path }) => {
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE old AS SELECT * FROM record");
    database.close();
    await publish(upsert(7, { relationship_id: "r7", subject: ALICE }));
    const pins = await openPinStore(path);
    const consumer = createConsumer({
      ...{ issuers: [did], allowPrivate: true, now: NOW, pins, maxAgeMs: 0 },
    });
    assertEquals((await consumer.verify(did)).state.last_sequence, 7);
    await pins.close();
    change("INSERT OR REPLACE INTO record SELECT * FROM old");
    await expectSigError(
      () => decide(ALICE),
      "store_unavailable",
      "is damaged",
    );
  }));

Deno.test("an altered time of a line never gives an answer about the past", () =>
  withRemembered(async ({ decide, change }) => {
    assertEquals(await decide(BOB, "2026-01-02T00:00:00Z"), "allow");
    assertEquals(await decide(BOB, "2026-01-03T00:00:00Z"), "deny");
    for (const sequence of [2, 3]) {
      change(
        `UPDATE event_1 SET latest=(SELECT latest FROM event_1 WHERE sequence=${
          sequence === 2 ? 4 : 1
        }) WHERE sequence=${sequence}`,
      );
      await expectSigError(
        () => decide(BOB, "2026-01-02T00:00:00Z"),
        "store_unavailable",
        "the time of the stored line",
      );
      change(
        `UPDATE event_1 SET latest='${
          latestOf(sequence)
        }' WHERE sequence=${sequence}`,
      );
    }
  }));

Deno.test("one altered time never gives an answer where events are out of order", () =>
  withRemembered(async ({ decide, change }) => {
    assertEquals(await decide(BOB, day(10)), "deny");
    assertEquals(await decide(BOB, day(20)), "allow");
    // Where the search looks first; that line itself is of the 9th of January.
    change(`UPDATE event_1 SET latest='${latestOf(9)}' WHERE sequence=9`);
    await expectSigError(
      () => decide(BOB, day(10)),
      "store_unavailable",
      "the time of the stored line 9 of",
    );
  }, [
    ...EVENTS,
    upsert(7, { relationship_id: "r7", subject: CAROL, issued_at: day(20) }),
    upsert(8, { relationship_id: "r8", subject: CAROL, issued_at: day(9) }),
    upsert(9, { relationship_id: "r9", subject: BOB, issued_at: day(9) }),
    ...[10, 11, 12, 13, 14, 15, 16, 17].map((n) =>
      upsert(n, { relationship_id: `r${n}`, issued_at: day(30) })
    ),
  ]));

Deno.test("a cursor with the text of another is refused", () =>
  withRemembered(async ({ did, change, path }) => {
    const watch = async (cursor: string, from?: number) => {
      const pins = await openPinStore(path);
      try {
        const consumer = createConsumer({
          ...{ issuers: [did], allowPrivate: true, now: NOW, pins },
        });
        const seen: number[] = [];
        const asked = { once: true, cursor, from };
        for await (const { sequence } of consumer.watch(did, asked)) {
          seen.push(sequence);
          if (cursor === "first") break;
        }
        return seen;
      } finally {
        await pins.close();
      }
    };
    assertEquals(await watch("second", 5), [5, 6]);
    assertEquals(await watch("first", 1), [1]);
    change(
      "UPDATE record SET text=(SELECT text FROM record WHERE id LIKE 'second:%') WHERE id LIKE 'first:%'",
    );
    await expectSigError(
      () => watch("first"),
      "store_unavailable",
      "the cursor first is damaged",
    );
  }));

Deno.test("a pin that is gone is forgotten by pin remove alone", () =>
  withRemembered(async ({ did, decide, change, path }) => {
    change(`DELETE FROM record WHERE ${PIN}`);
    const pins = await openPinStore(path);
    const isMissing = (work: () => Promise<unknown>) =>
      expectSigError(work, "store_unavailable", "the store is damaged");
    const full = createConsumer({
      ...{ issuers: [did], allowPrivate: true, now: NOW, pins, full: true },
    });
    await isMissing(() => full.verify(did));
    await isMissing(() => showPin(pins, did));
    await removePin(pins, did);
    await expectSigError(
      () => showPin(pins, did),
      "not_found",
      "Cannot find a pin",
    );
    await pins.close();
    assertEquals(await decide(BOB), "deny");
  }));

function latestOf(sequence: number): string {
  const seconds = Date.UTC(2026, 0, sequence) / 1000 + 100_000_000_000;
  return `${seconds}.000000000`;
}

Deno.test("damage is not written over, --full and pin remove are ways out", () =>
  withRemembered(async ({ did, decide, change, publish, path }) => {
    change("DELETE FROM event_1 WHERE sequence=3");
    await publish(upsert(7, { relationship_id: "r7", subject: ALICE }));
    const verify = async (full: boolean) => {
      const pins = await openPinStore(path);
      try {
        const consumer = createConsumer({
          ...{ issuers: [did], allowPrivate: true, now: NOW, maxAgeMs: 0 },
          ...{ pins, full },
        });
        const question = { subject: BOB, require: REQUIRE };
        return (await consumer.check(did, question)).decision;
      } finally {
        await pins.close();
      }
    };
    await expectSigError(
      () => verify(false),
      "store_unavailable",
      "it is damaged",
    );
    assertEquals(await verify(true), "deny");
    assertEquals(await decide(BOB), "deny");
    change("DELETE FROM event_2 WHERE sequence=3");
    const pins = await openPinStore(path);
    await removePin(pins, did);
    assertEquals(await listPins(pins), []);
    await pins.close();
    assertEquals(await verify(false), "deny");
  }));

Deno.test("a file that others could have written is refused, with its place", () =>
  withRemembered(async ({ decide, path }) => {
    const refused = (message: string) =>
      expectSigError(
        () => decide(ALICE),
        "store_unavailable",
        `Cannot use store ${path}: ${message}`,
      );
    for (const mode of [0o620, 0o602]) {
      Deno.chmodSync(path, mode);
      await refused(`the file ${path} can be written by other users`);
    }
    Deno.chmodSync(path, 0o644);
    assertEquals(await decide(ALICE), "allow");
    if (Deno.uid() === 0) {
      Deno.chownSync(path, 65_534, null);
      await refused(`the file ${path} belongs to another user`);
      Deno.chownSync(path, 0, null);
      // SQLite reads these first.
      for (const log of [`${path}-wal`, `${path}-journal`]) {
        Deno.writeTextFileSync(log, "");
        Deno.chownSync(log, 65_534, null);
        await refused(`the file ${log} belongs to another user`);
        Deno.removeSync(log);
      }
    }
    // A link to it is as good as the file.
    Deno.symlinkSync(path, `${path}.link`);
    const pins = await openPinStore(`${path}.link`);
    assertEquals((await listPins(pins)).length, 1);
    await pins.close();
    Deno.truncateSync(path);
    await refused("the file is empty");
    Deno.writeTextFileSync(path, "no database at all\n".repeat(99));
    await refused("the file is damaged");
    Deno.removeSync(path);
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE theirs (n INTEGER)");
    other.close();
    Deno.chmodSync(path, 0o600);
    await refused("the file belongs to another program");
    for (const [version, age] of [[1, "an earlier"], [9, "a newer"]]) {
      const file = new DatabaseSync(path);
      file.exec(
        `PRAGMA application_id = 1397311344; PRAGMA user_version = ${version}`,
      );
      file.close();
      await refused(
        `it was made by ${age} version of this program (${version})`,
      );
    }
  }));
