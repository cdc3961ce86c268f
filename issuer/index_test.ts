import type { RecoveryNotice } from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import {
  assertRejected,
  type Place,
  readFeed,
  upsert,
  withPlace,
} from "./testdata/support.ts";
import { openDatabase } from "./sqlite.ts";

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

/** The index answers for every event of the feed. */
async function assertIndexed(place: Place, names: readonly string[]) {
  const issuer = await place.open();
  for (const [at, event_id] of names.entries()) {
    const { repeated, sequence } = await issuer.append(upsert({ event_id }));
    assertEquals([sequence, repeated], [at + 1, true]);
  }
  await issuer.close();
  assertEquals((await readFeed(place)).length, names.length);
}

const copy = async (place: Place, to: string) => {
  for (const suffix of ["", "-wal", "-shm"]) {
    await Deno.copyFile(`${place.dir}/.sig/index.db${suffix}`, `${to}${suffix}`)
      .catch(() => {});
  }
};
const putBack = async (place: Place, from: string) => {
  for (const suffix of ["", "-wal", "-shm"]) {
    const path = `${place.dir}/.sig/index.db${suffix}`;
    await Deno.remove(path).catch(() => {});
    await Deno.copyFile(`${from}${suffix}`, path).catch(() => {});
  }
};

Deno.test("an index that is behind is brought up to date, not made anew", () =>
  withPlace(async (place) => {
    await appendIds(place, ids(1, 3));
    await copy(place, `${place.base}/old`);
    await appendIds(place, ids(4, 6));
    await putBack(place, `${place.base}/old`);
    assertEquals(await appendIds(place, ids(7, 7)), []);
    await assertIndexed(place, ids(1, 7));
  }));

Deno.test("an index that is ahead of the feed is made anew", () =>
  withPlace(async (place) => {
    await appendIds(place, ids(1, 3));
    const feed = await Deno.readFile(place.feed);
    await appendIds(place, ids(4, 6));
    await Deno.writeFile(place.feed, feed);
    const [notice] = await appendIds(place, ["e4"]);
    assertEquals(notice?.kind, "index_rebuilt");
    await assertIndexed(place, ids(1, 4));
  }));

Deno.test("an index of another file of that name is made anew", () =>
  withPlace(async (place) => {
    await appendIds(place, ids(1, 3));
    await Deno.copyFile(place.feed, `${place.base}/copy`);
    await Deno.rename(`${place.base}/copy`, place.feed);
    const [notice] = await appendIds(place, ["e4"]);
    assertEquals(notice?.kind, "index_rebuilt");
    await assertIndexed(place, ids(1, 4));
  }));

Deno.test("a feed that was replaced while the issuer is open is verified anew", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.append(upsert({ event_id: "e1" }));
    const feed = await Deno.readFile(place.feed);
    await issuer.append(upsert({ event_id: "e2" }));
    await Deno.writeFile(`${place.base}/other`, feed);
    await Deno.rename(`${place.base}/other`, place.feed);
    const { sequence } = await issuer.append(upsert({ event_id: "e2" }));
    assertEquals(sequence, 2);
    await issuer.close();
    await assertIndexed(place, ids(1, 2));
  }));

for (
  const [what, damage] of [
    ["is missing", (path: string) => Deno.remove(path)],
    ["is not a database", (path: string) => Deno.writeTextFile(path, "oops")],
    ["is empty", (path: string) => Deno.truncate(path)],
    ["is a directory", async (path: string) => {
      await Deno.remove(path);
      await Deno.mkdir(`${path}/sub`, { recursive: true });
    }],
    ["is of another version", (path: string) => {
      const database = openDatabase(path);
      database?.exec("PRAGMA user_version = 99");
      database?.close();
      return Promise.resolve();
    }],
    ["has other tables", (path: string) => {
      const database = openDatabase(path);
      database?.exec("DROP TABLE events; CREATE TABLE events (x)");
      database?.close();
      return Promise.resolve();
    }],
    ["has lost a page", async (path: string) => {
      const bytes = await Deno.readFile(path);
      await Deno.writeFile(path, bytes.fill(0xff, 4096));
    }],
    ["has a mark of another kind", (path: string) => {
      const database = openDatabase(path);
      database?.exec("UPDATE mark SET bytes = 'many'");
      database?.close();
      return Promise.resolve();
    }],
  ] as const
) {
  Deno.test(`an index that ${what} is made anew from the feed`, () =>
    withPlace(async (place) => {
      await appendIds(place, ids(1, 3));
      await damage(`${place.dir}/.sig/index.db`);
      await appendIds(place, ids(4, 5));
      await assertIndexed(place, ids(1, 5));
    }));
}

Deno.test("an event that the index misplaces is found after making it anew", () =>
  withPlace(async (place) => {
    await appendIds(place, ids(1, 3));
    const database = openDatabase(`${place.dir}/.sig/index.db`);
    assert(database !== undefined);
    database.exec("UPDATE events SET offset = 7 WHERE event_id = 'e2'");
    database.close();
    await assertIndexed(place, ids(1, 3));
  }));

Deno.test("two issuers of one directory see each other's events, whoever's index is behind", () =>
  withPlace(async (place) => {
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
    // One of them loses the index's files; the other has them open.
    for (const suffix of ["", "-wal", "-shm"]) {
      await Deno.remove(`${place.dir}/.sig/index.db${suffix}`).catch(() => {});
    }
    const c = await place.open();
    assertEquals((await c.append(upsert({ event_id: "e201" }))).sequence, 201);
    for (const issuer of [a, b, c]) {
      const { sequence } = await issuer.append(upsert({ event_id: "e7" }));
      assertEquals(sequence, 7);
      await assertRejected(
        issuer.append(upsert({ event_id: "e201", roles: ["x"] })),
        "duplicate_event_id",
        "in use at sequence 201",
      );
    }
    for (const issuer of [a, b, c]) await issuer.close();
    await assertIndexed(place, ids(1, 201));
  }));
