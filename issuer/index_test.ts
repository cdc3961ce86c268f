import { DatabaseSync } from "node:sqlite";
import type { RecoveryNotice } from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import {
  eachIndexFile,
  forged,
  modeOf,
  type Place,
  placeTest as test,
  readFeed,
  revoke,
  upsert,
  withPlace,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";

// promise: A forged or older index causes no gap, no repeated sequence, and
//   hides no lost event.

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => `e${from + n}`);

async function appendIds(
  place: Place,
  names: readonly string[],
): Promise<readonly RecoveryNotice[]> {
  const notices: RecoveryNotice[] = [];
  const issuer = await place.open({ onRecovery: (n) => notices.push(n) });
  for (const event_id of names) await issuer.append(upsert({ event_id }));
  await issuer.close();
  return notices;
}

/** Asserts that the index has every event of the feed. */
async function assertIndexed(place: Place, names: readonly string[]) {
  const issuer = await place.open();
  for (const [at, event_id] of names.entries()) {
    const { repeated, sequence } = await issuer.append(upsert({ event_id }));
    assertEquals([sequence, repeated], [at + 1, true]);
  }
  await issuer.close();
  assertEquals((await readFeed(place)).length, names.length);
}

/** Changes the index file. */
function change(place: Place, sql: string): void {
  const database = new DatabaseSync(`${place.dir}/.sig/index.db`);
  database.exec(sql);
  database.close();
}

test("brings an index that is behind up to date without rebuilding it", async ({ place }) => {
  await appendIds(place, ids(1, 3));
  const old = `${place.base}/old`;
  await eachIndexFile(place, (path, end) => Deno.copyFile(path, old + end));
  await appendIds(place, ids(4, 6));
  await eachIndexFile(place);
  await eachIndexFile(place, (path, end) => Deno.copyFile(old + end, path));
  assertEquals(await appendIds(place, ids(7, 7)), []);
  await assertIndexed(place, ids(1, 7));
});

/** Asserts that the work does not change the feed. */
async function assertUntouched(place: Place, work: () => Promise<unknown>) {
  const before = await Deno.readFile(place.feed);
  await work();
  assertEquals(await Deno.readFile(place.feed), before);
}

type Replace = (place: Place, feed: Uint8Array) => Promise<void>;

const putInPlace: Replace = async (place, feed) => {
  await Deno.writeFile(`${place.base}/copy`, feed);
  await Deno.rename(`${place.base}/copy`, place.feed);
};

const REPLACED: readonly (readonly [what: string, replace: Replace])[] = [
  ["truncated in place", (place, feed) => Deno.writeFile(place.feed, feed)],
  ["replaced by an older copy", putInPlace],
  [
    "cut within a line",
    (place, feed) => Deno.writeFile(place.feed, feed.subarray(0, -9)),
  ],
  ["emptied", (place) => Deno.truncate(place.feed)],
];

for (const [what, replace] of REPLACED) {
  test(`refuses a feed that was ${what}, repeatedly, and writes nothing`, async ({ place }) => {
    await appendIds(place, ids(1, 3));
    const feed = await Deno.readFile(place.feed);
    await appendIds(place, ids(4, 6));
    await replace(place, feed);
    for (let n = 0; n < 3; n++) {
      await assertUntouched(place, async () => {
        const error = await expectSigError(
          appendIds(place, ["e7"]),
          "feed_rolled_back",
          'but the index beside it knows sequence 6 (event_id "e6")',
        );
        assert(String(error.context.hint).includes("--accept-rollback"));
      });
    }
    // Restore the lost events.
    await Deno.writeFile(place.feed, feed);
    const notices: RecoveryNotice[] = [];
    const issuer = await place.open({
      acceptRollback: true,
      onRecovery: (notice) => notices.push(notice),
    });
    assertEquals((await issuer.append(upsert())).sequence, 4);
    assertEquals(notices.map(({ kind }) => kind), ["index_rebuilt"]);
    await issuer.close();
    await appendIds(place, ["e8"]);
  });
}

test("refuses a feed with another event at a known sequence", async ({ place }) => {
  await appendIds(place, ids(1, 2));
  const feed = await Deno.readFile(place.feed);
  await appendIds(place, ["e3"]);
  const db = await Deno.readFile(`${place.dir}/.sig/index.db`);
  await Deno.writeFile(place.feed, feed);
  await Deno.remove(`${place.dir}/.sig/index.db`);
  await appendIds(place, ["other"]);
  await Deno.writeFile(`${place.dir}/.sig/index.db`, db);
  await assertUntouched(place, () =>
    expectSigError(
      appendIds(place, ["e4"]),
      "feed_rewritten",
      'the index beside it knows another event at sequence 3 (event_id "e3")',
    ));
});

const EDITS = {
  "a higher sequence": "UPDATE mark SET sequence = 41",
  "a lower sequence": "UPDATE mark SET sequence = 1",
  "no event at all": "UPDATE mark SET sequence = 0, bytes = 0",
  "no time of the last event": "UPDATE mark SET latest_issued_at = NULL",
  "a wrong position of its last event": "UPDATE events SET offset = 0",
  "its last event missing": "DELETE FROM events WHERE event_id = 'e3'",
  "an empty table of events": "DELETE FROM events",
  "an event missing": "DELETE FROM events WHERE event_id = 'e2'",
  "a wrong position of an event":
    "UPDATE events SET offset = 7 WHERE event_id = 'e2'",
  "a wrong sequence of an event":
    "UPDATE events SET sequence = 9 WHERE event_id = 'e2'",
  "an active relationship marked as revoked":
    "UPDATE relationships SET status = 'revoked'",
  "a relationship of another subject":
    "UPDATE relationships SET subject = 'did:web:eve.example'",
  "an unknown relationship":
    "UPDATE relationships SET relationship_id = 'made up' WHERE relationship_id = 'r3'",
  "wrong positions of relationships":
    "UPDATE relationships SET offset = 0, last_sequence = 1",
};

for (const [what, sql] of Object.entries(EDITS)) {
  test(`an index with ${what} never causes a wrong event to be signed`, async ({ place }) => {
    await appendIds(place, ids(1, 2));
    const first = await place.open();
    await first.append(upsert({ event_id: "e3", relationship_id: "r3" }));
    await first.close();
    change(place, sql);
    const issuer = await place.open();
    const again = await issuer.append(upsert({ event_id: "e2" }));
    assertEquals([again.sequence, again.repeated], [2, true]);
    await expectSigError(
      issuer.append(revoke("made up")),
      "unknown_relationship",
      "the feed has no relationship with this relationship_id",
    );
    const { sequence } = await issuer.append(
      revoke("r3", { event_id: "e4" }),
    );
    assertEquals(sequence, 4);
    await issuer.close();
    // Gapless, unique, and without warnings.
    const events = await readFeed(place);
    assertEquals(events.map(({ event_id }) => event_id), ids(1, 4));
  });
}

test("keeps lock, index and their folder private, and rebuilds an index that others could write", async ({ place }) => {
  await appendIds(place, ids(1, 3));
  const folder = `${place.dir}/.sig`;
  const assertPrivate = () => {
    assertEquals(modeOf(folder), 0o700);
    for (const { name } of Deno.readDirSync(folder)) {
      assertEquals([name, modeOf(`${folder}/${name}`)], [name, 0o600]);
    }
  };
  assertPrivate();
  for (const [path, mode] of [["", 0o777], ["/index.db", 0o666]] as const) {
    await Deno.chmod(folder + path, mode);
    const [notice] = await appendIds(place, ["e3"]);
    assertEquals(notice?.kind, "index_rebuilt");
    assertPrivate();
  }
  await Deno.chmod(folder, 0o755);
  assertEquals(await appendIds(place, ["e3"]), []);
  assertPrivate();
});

Deno.test({
  name: "refuses a private folder of another user",
  // Only root can change the owner.
  ignore: Deno.uid() !== 0,
  fn: () =>
    withPlace(async (place) => {
      await appendIds(place, ids(1, 1));
      await Deno.chown(`${place.dir}/.sig`, 12345, null);
      await assertUntouched(place, () =>
        expectSigError(
          appendIds(place, ["e2"]),
          "store_unavailable",
          "it belongs to another user, who could change what is signed",
        ));
    }),
});

test("rebuilds an index of another feed file with the same name", async ({ place }) => {
  await appendIds(place, ids(1, 3));
  await putInPlace(place, await Deno.readFile(place.feed));
  const [notice] = await appendIds(place, ["e4"]);
  assertEquals(notice?.kind, "index_rebuilt");
  await assertIndexed(place, ids(1, 4));
});

test("refuses a feed that loses events while the issuer is open", async ({ issuer, place }) => {
  await issuer.append(upsert({ event_id: "e1" }));
  const feed = await Deno.readFile(place.feed);
  await issuer.append(upsert({ event_id: "e2" }));
  await putInPlace(place, feed);
  for (let n = 0; n < 2; n++) {
    await expectSigError(
      issuer.append(upsert({ event_id: "e2" })),
      "feed_rolled_back",
      "it ends at sequence 1",
    );
  }
});

const DAMAGES: readonly (readonly [
  what: string,
  damage: string | ((path: string) => Promise<void>),
])[] = [
  ["is missing", (path) => Deno.remove(path)],
  ["is not a database", (path) => Deno.writeTextFile(path, "oops")],
  ["is empty", (path) => Deno.truncate(path)],
  ["is a directory", async (path) => {
    await Deno.remove(path);
    await Deno.mkdir(`${path}/sub`, { recursive: true });
  }],
  ["is of another version", "PRAGMA user_version = 99"],
  ["has other tables", "DROP TABLE events; CREATE TABLE events (x)"],
  ["has lost a page", async (path) => {
    const bytes = await Deno.readFile(path);
    await Deno.writeFile(path, bytes.fill(0xff, 4096));
  }],
  ["has a mark of another type", "UPDATE mark SET bytes = 'many'"],
];

for (const [what, damage] of DAMAGES) {
  test(`rebuilds an index that ${what} from the feed`, async ({ place }) => {
    await appendIds(place, ids(1, 3));
    if (typeof damage === "string") change(place, damage);
    else await damage(`${place.dir}/.sig/index.db`);
    await appendIds(place, ids(4, 5));
    await assertIndexed(place, ids(1, 5));
  });
}

test("two open issuers of one directory see each other's events, even if an index is behind", async ({ place }) => {
  const a = await place.open();
  const b = await place.open();
  for (let n = 1; n <= 200; n++) {
    const one = n % 3 === 0 ? a : b;
    const other = n % 3 === 0 ? b : a;
    const { sequence } = await one.append(upsert({ event_id: `e${n}` }));
    assertEquals(sequence, n);
    const again = await other.append(upsert({ event_id: `e${n}` }));
    assertEquals([again.sequence, again.repeated], [n, true]);
  }
  // The index files are deleted while the other issuer has them open.
  await eachIndexFile(place);
  const c = await place.open();
  assertEquals((await c.append(upsert({ event_id: "e201" }))).sequence, 201);
  for (const issuer of [a, b, c]) {
    const { sequence } = await issuer.append(upsert({ event_id: "e7" }));
    assertEquals(sequence, 7);
    await expectSigError(
      issuer.append(upsert({ event_id: "e201", roles: ["x"] })),
      "duplicate_event_id",
      "in use at sequence 201",
    );
  }
  for (const issuer of [a, b, c]) await issuer.close();
  await assertIndexed(place, ids(1, 201));
});

test("events not yet in the index file take precedence over it", async ({ place }) => {
  const subject = "did:web:bob.example";
  const first = await place.open();
  for (const relationship_id of ["r1", "r2"]) {
    await first.append(upsert({ relationship_id, subject }));
  }
  await first.close();
  const issuer = await place.open();
  await issuer.append(revoke("r1"));
  const { relationships } = await issuer.current({ subject });
  const found = relationships.map(({ relationship_id }) => relationship_id);
  assertEquals(found, ["r2"]);
  await issuer.close();
});

test("does not continue an emptied index with a gap", async ({ place }) => {
  await appendIds(place, ids(1, 2));
  const issuer = await place.open();
  await issuer.append(upsert({ event_id: "e3" }));
  change(place, "DELETE FROM events; DELETE FROM mark");
  await issuer.close();
  const found = new DatabaseSync(`${place.dir}/.sig/index.db`);
  const { n } = found.prepare("SELECT count(*) AS n FROM mark").get()!;
  found.close();
  assertEquals(n, 0);
  await assertIndexed(place, ids(1, 3));
});

test("a process remembers the events it has seen even if the feed was damaged since", async ({ place }) => {
  await appendIds(place, ["e1"]);
  const issuer = await place.open();
  const older = await Deno.readFile(place.feed);
  // The index file stays behind, so only this process knows the event.
  await issuer.append(upsert({ event_id: "e2" }));
  const damaged = forged(await Deno.readTextFile(place.feed));
  await putInPlace(place, new TextEncoder().encode(damaged));
  await expectSigError(
    issuer.append(upsert({ event_id: "e3" })),
    "signature_invalid",
    "Cannot use the feed: line 1",
  );
  await putInPlace(place, older);
  await assertUntouched(place, () =>
    expectSigError(
      issuer.append(upsert({ event_id: "e3" })),
      "feed_rolled_back",
      'but the index beside it knows sequence 2 (event_id "e2")',
    ));
  await issuer.close();
});
