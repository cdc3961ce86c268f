// Pin files that were edited by hand, or restored in part.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Consumer, ConsumerOptions } from "../consumer.ts";
import {
  listPins,
  openPinStore,
  type PinStore,
  removePin,
  showPin,
} from "../pins.ts";
import { ALICE, day, revoke, upsert } from "../../tests/kit/events.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type Event,
  type RememberedIssuer,
  withIssuer,
} from "../testdata/remembered_issuer.ts";
import { instantKey } from "./sqlite_lines.ts";

const BOB = "did:web:bob.example";
const CAROL = "did:web:carol.example";
const DAVE = "did:web:dave.example";

/**
 * Alice is active, Bob was revoked, Carol has a single event; Dave's
 * relationship was moved to Alice.
 */
const EVENTS = [
  upsert(1, { relationship_id: "r1", subject: ALICE }),
  upsert(2, { relationship_id: "r2", subject: BOB }),
  revoke(3, { relationship_id: "r2", subject: BOB }),
  upsert(4, { relationship_id: "r4", subject: CAROL }),
  upsert(5, { relationship_id: "r5", subject: DAVE }),
  upsert(6, { relationship_id: "r5", subject: ALICE }),
];

interface Remembered extends Pick<RememberedIssuer, "did" | "path"> {
  /** Runs the work as a new process would. */
  open<T>(
    work: (consumer: Consumer, pins: PinStore) => Promise<T>,
    options?: Partial<ConsumerOptions>,
  ): Promise<T>;
  /** Returns the answer of a new process without a request to the issuer. */
  decide(subject: string, asOf?: string): Promise<string>;
  /** Changes the closed file. */
  change(sql: string): void;
  publish(event: Event): Promise<void>;
}

/** An issuer whose feed is remembered in a file. */
async function withRemembered(
  work: (remembered: Remembered) => Promise<void>,
  events: readonly Event[] = EVENTS,
): Promise<void> {
  await withIssuer(async ({ did, pins, path, fresh, publish }) => {
    await publish(events);
    await fresh().verify(did);
    for await (const _ of fresh().watch(did, { once: true })) assert(false);
    await pins.close();
    const open: Remembered["open"] = async (work, options) => {
      const pins = await openPinStore(path);
      try {
        return await work(fresh({ pins, ...options }), pins);
      } finally {
        await pins.close();
      }
    };
    await work({
      ...{ did, path, open, publish: (event) => publish([event]) },
      decide: (subject, asOf) =>
        open(async (consumer) => {
          const question = { subject, require: ["role=deploy"], asOf } as const;
          return (await consumer.check(did, question)).decision;
        }, { maxAgeMs: 60_000 }),
      change(sql) {
        const database = new DatabaseSync(path);
        try {
          assert(database.prepare(sql).run().changes > 0, sql);
        } finally {
          database.close();
        }
      },
    });
  });
}

Deno.test("a new process answers from the stored lines", () =>
  withRemembered(async ({ decide }) => {
    assertEquals(await decide(ALICE), "allow");
    assertEquals(await decide(BOB), "deny");
    assertEquals(await decide(CAROL), "allow");
    assertEquals(await decide(DAVE), "deny");
    assertEquals(await decide("did:web:nobody.example"), "deny");
  }));

const PIN = "kind='pin'";

const TOO_FEW = "the lines of DID are not as many as its pin says: it";
const PIN_GONE = "the pin of DID is missing: the store";
const LIST = "the list of feeds has no lines of DID: it";
const ABOUT = "the lines of DID about a subject";
const ATTACHED = "what is stored with the lines of DID";
const line = (n: number) => `the stored line ${n} of DID`;

/**
 * The SQL that alters one field, the subject of the question, and the damaged
 * part in the message.
 */
const ALTERED: readonly (readonly [
  what: string,
  sql: string,
  subject: string,
  damaged: string,
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
      `the pin's ${from}`,
      `UPDATE record SET text=replace(text, '${from}', '${to}') WHERE ${PIN}`,
      ...[ALICE, "the pin of DID"] as const,
    ] as const
  ),
  [
    "the pin's checksum",
    `UPDATE record SET text=substr(text, 66) WHERE ${PIN}`,
    ...[ALICE, "the pin of DID"] as const,
  ],
  [
    "the pin's text, replaced by a cursor's",
    `UPDATE record SET text=(SELECT text FROM record WHERE kind='cursor') WHERE ${PIN}`,
    ...[BOB, "the pin of DID"] as const,
  ],
  ["a deleted pin", `DELETE FROM record WHERE ${PIN}`, BOB, PIN_GONE],
  [
    "the pin's expiry",
    `UPDATE record SET expires_at=1 WHERE ${PIN}`,
    ...[BOB, PIN_GONE] as const,
  ],
  [
    "the pin's id",
    `UPDATE record SET id='did:web:bob.example' WHERE ${PIN}`,
    ...[BOB, PIN_GONE] as const,
  ],
  ...([
    ["a deleted revoke", "DELETE FROM event_1 WHERE sequence=3", BOB, TOO_FEW],
    ["another line", "DELETE FROM event_1 WHERE sequence=1", BOB, TOO_FEW],
    ["subject of a revoke", `subject='${ALICE}' WHERE sequence=3`, BOB, ABOUT],
    ["only subject", `subject='${ALICE}' WHERE sequence=4`, CAROL, ABOUT],
    ["relationship", "relationship='r9' WHERE sequence=3", BOB, line(3)],
    [
      "relationship that moved",
      "relationship='r9' WHERE sequence=6",
      DAVE,
      line(6),
    ],
    ["other sequence", "sequence=-1 WHERE sequence=1", BOB, TOO_FEW],
    ["sequence", "sequence=7 WHERE sequence=1", ALICE, TOO_FEW],
    [
      "too large sequence",
      "sequence=9223372036854775807 WHERE sequence=1",
      ...[ALICE, "the file"] as const,
    ],
    ["event_id", "event_id='e9' WHERE sequence=1", ALICE, line(1)],
    [
      "signature",
      `line=CAST(replace(CAST(line AS TEXT), '"signature":"', '"signature":"A') AS BLOB) WHERE sequence=1`,
      ...[ALICE, line(1)] as const,
    ],
    [
      "line",
      "line=(SELECT line FROM event_1 WHERE sequence=2) WHERE sequence=3",
      ...[BOB, line(3)] as const,
    ],
    [
      "type of a line",
      "line=CAST(line AS TEXT) WHERE sequence=1",
      ...[ALICE, "a stored line"] as const,
    ],
  ] as const).map(([what, sql, subject, damaged]) =>
    [
      `a line's ${what}`,
      sql.startsWith("DELETE") ? sql : `UPDATE event_1 SET ${sql}`,
      ...[subject, damaged] as const,
    ] as const
  ),
  [
    "the count of a subject's lines",
    `UPDATE subject_1 SET lines=0 WHERE subject='${ALICE}'`,
    ...[ALICE, ABOUT] as const,
  ],
  [
    "a subject missing in the list",
    `DELETE FROM subject_1 WHERE subject='${BOB}'`,
    ...["did:web:nobody.example", "the list of subjects of DID"] as const,
  ],
  [
    "the attachment",
    "UPDATE attachment SET bytes=CAST(replace(CAST(bytes AS TEXT), 'EdDSA', 'ES256') || ' ' AS BLOB)",
    ...[ALICE, ATTACHED] as const,
  ],
  [
    "the type of the attachment",
    "UPDATE attachment SET bytes=1",
    ...[ALICE, ATTACHED] as const,
  ],
  ["a deleted attachment", "DELETE FROM attachment", ALICE, ATTACHED],
  ["a deleted list of feeds", "DELETE FROM feed", ALICE, LIST],
];

for (const [what, sql, subject, damaged] of ALTERED) {
  Deno.test(`an altered field is an error: ${what}`, () =>
    withRemembered(async ({ decide, change, path, did }) => {
      change(sql);
      const part = damaged.replace("DID", did);
      const error = await expectSigError(
        () => decide(subject),
        "store_unavailable",
        `Cannot use store ${path}: ${part} is damaged`,
      );
      assertEquals(error.context.place, path);
    }));
}

Deno.test("an older copy of the pin's row is an error", () =>
  withRemembered(async ({ did, decide, open, change, publish, path }) => {
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE old AS SELECT * FROM record");
    database.close();
    await publish(upsert(7, { relationship_id: "r7", subject: ALICE }));
    const { state } = await open((consumer) => consumer.verify(did));
    assertEquals(state.last_sequence, 7);
    change("INSERT OR REPLACE INTO record SELECT * FROM old");
    await expectSigError(
      () => decide(ALICE),
      "store_unavailable",
      "is damaged",
    );
  }));

/** Returns the `latest` of a line issued on this day of January. */
function latestOf(n: number): string {
  return instantKey({ seconds: Date.UTC(2026, 0, n) / 1000, nanoseconds: 0 });
}

Deno.test("an altered time is an error for a question about the past", () =>
  withRemembered(async ({ decide, change }) => {
    assertEquals(await decide(BOB, day(2)), "allow");
    assertEquals(await decide(BOB, day(3)), "deny");
    const set = (latest: number, sequence: number) =>
      change(
        `UPDATE event_1 SET latest='${
          latestOf(latest)
        }' WHERE sequence=${sequence}`,
      );
    for (const [sequence, latest] of [[2, 4], [3, 1]] as const) {
      set(latest, sequence);
      await expectSigError(
        () => decide(BOB, day(2)),
        "store_unavailable",
        "the time of the stored line",
      );
      set(sequence, sequence);
    }
  }));

Deno.test("an altered time is an error also if events are out of order", () =>
  withRemembered(async ({ decide, change }) => {
    assertEquals(await decide(BOB, day(10)), "deny");
    assertEquals(await decide(BOB, day(20)), "allow");
    // The search reads this line first; its own date is the 9th of January.
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

Deno.test("a cursor with the text of another cursor is rejected", () =>
  withRemembered(async ({ did, change, open }) => {
    const watch = (cursor: string, from?: number) =>
      open(async (consumer) => {
        const seen: number[] = [];
        const asked = { once: true, cursor, from };
        for await (const { sequence } of consumer.watch(did, asked)) {
          seen.push(sequence);
          if (cursor === "first") break;
        }
        return seen;
      });
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

Deno.test("an issuer whose pin is missing is an error until pin remove", () =>
  withRemembered(async ({ did, decide, change, open }) => {
    change(`DELETE FROM record WHERE ${PIN}`);
    await open(async (consumer, pins) => {
      for (
        const ask of [() => consumer.verify(did), () => showPin(pins, did)]
      ) {
        await expectSigError(ask, "store_unavailable", "the store is damaged");
      }
      await removePin(pins, did);
      await expectSigError(
        () => showPin(pins, did),
        "not_found",
        "Cannot find a pin",
      );
    }, { full: true });
    assertEquals(await decide(BOB), "deny");
  }));

Deno.test("removing an issuer that is not remembered is an error and removes nothing", () =>
  withRemembered(async ({ did, decide, open }) => {
    await open(async (_, pins) => {
      const other = "did:web:other.example";
      await expectSigError(
        () => removePin(pins, other),
        "not_found",
        `Cannot find a pin: "${other}" is not remembered`,
      );
      assertEquals(await pins.lines!.remove(other), false);
      assertEquals((await listPins(pins)).map(({ issuer }) => issuer), [did]);
    });
    assertEquals(await decide(ALICE), "allow");
    assertEquals(await decide(BOB), "deny");
  }));

Deno.test("damaged lines are not overwritten; --full and pin remove repair them", () =>
  withRemembered(async ({ did, decide, change, publish, open }) => {
    change("DELETE FROM event_1 WHERE sequence=3");
    await publish(upsert(7, { relationship_id: "r7", subject: ALICE }));
    const ask = (full: boolean) =>
      open(async (consumer) => {
        const question = { subject: BOB, require: ["role=deploy"] } as const;
        return (await consumer.check(did, question)).decision;
      }, { full });
    const message = "it is damaged";
    await expectSigError(() => ask(false), "store_unavailable", message);
    assertEquals(await ask(true), "deny");
    assertEquals(await decide(BOB), "deny");
    change("DELETE FROM event_2 WHERE sequence=3");
    await open(async (_, pins) => {
      await removePin(pins, did);
      assertEquals(await listPins(pins), []);
    });
    assertEquals(await ask(false), "deny");
  }));

Deno.test("a file that another user can write is rejected, with its location", () =>
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
    const folder = path.replace(/[^/]*$/, "");
    Deno.chmodSync(folder, 0o777);
    await refused(`any user can replace files in the folder ${folder}`);
    // Only owners can replace files in a folder such as /tmp.
    for (const mode of [0o1777, 0o775]) {
      Deno.chmodSync(folder, mode);
      assertEquals(await decide(ALICE), "allow");
    }
    // Another user could replace a folder above, or a link on the way.
    const open = `${folder}open/`;
    Deno.mkdirSync(`${open}mine`, { recursive: true, mode: 0o700 });
    Deno.chmodSync(open, 0o777);
    Deno.copyFileSync(path, `${open}mine/pins.db`);
    Deno.symlinkSync(path, `${open}link.db`);
    Deno.symlinkSync(folder, `${open}folder`);
    Deno.symlinkSync(`${open}link.db`, `${folder}links.db`);
    for (
      const place of [
        `${open}mine/pins.db`,
        `${open}link.db`,
        `${open}folder/${path.slice(folder.length)}`,
        `${folder}links.db`,
      ]
    ) {
      await expectSigError(
        () => openPinStore(place),
        "store_unavailable",
        `any user can replace files in the folder ${open}`,
      );
    }
    if (Deno.uid() === 0) {
      Deno.chownSync(path, 65_534, null);
      await refused(`the file ${path} belongs to another user`);
      Deno.chownSync(path, 0, null);
      // SQLite reads these files first.
      for (const log of [`${path}-wal`, `${path}-journal`]) {
        Deno.writeTextFileSync(log, "");
        Deno.chownSync(log, 65_534, null);
        await refused(`the file ${log} belongs to another user`);
        Deno.removeSync(log);
      }
    }
    // A link to the file is accepted like the file.
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
