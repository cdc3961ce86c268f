import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  init,
  type Place,
  placeTest as test,
  readFeed,
  runWorker,
  upsert,
  withPlace,
  type WorkerResult,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { type SmallDisk, smallDiskTest } from "../tests/kit/small_disk.ts";

// promise: A full disk leaves a valid feed.

/** Asserts that the feed has every acknowledged event and no other. */
async function assertFeed(place: Place, { lines }: WorkerResult) {
  const events = await readFeed(place);
  const acknowledged = lines.filter((line) => !line.startsWith("refused"));
  assertEquals(
    events.map(({ event_id, sequence }) => `${event_id} ${sequence}`),
    acknowledged,
  );
}

test("an append that the system cuts short is undone", async ({ place }) => {
  // The kernel writes what fits, then returns EFBIG; in blocks of 512 bytes.
  const job = { work: "append", count: 200, name: "a" } as const;
  const limit = "trap '' XFSZ; ulimit -f 100";
  const result = await runWorker(place, job, limit);
  assertEquals(result.code, 2, result.output);
  const last = result.lines.at(-1) ?? "";
  assert(
    last.startsWith("refused write_failed Cannot write") &&
      last.includes("the file would become too large (EFBIG)"),
    result.output,
  );
  await assertFeed(place, result);
  assert(result.lines.length > 20);
  const issuer = await place.open();
  const { sequence } = await issuer.append(upsert());
  assertEquals(sequence, result.lines.length);
});

test("refuses an append without file descriptors, and succeeds when some are free", async ({ place }) => {
  const job = { work: "exhaust", name: "a" } as const;
  const result = await runWorker(place, job, "ulimit -n 128");
  assertEquals(result.code, 0, result.output);
  const [refused, ...more] = result.lines;
  assertMatch(refused ?? "", /^refused .* too many files are open \(EMFILE\)$/);
  assertEquals(more, ["a-1 1"]);
  await assertFeed(place, result);
});

/** Defines a test whose issuer is on a separate file system. */
function issuerTest(
  name: string,
  size: string,
  fn: (place: Place, disk: SmallDisk) => Promise<void>,
): void {
  smallDiskTest(
    name,
    size,
    (disk) => withPlace((place) => fn(place, disk), { parent: disk.path }),
  );
}

issuerTest(
  "an append to a full disk is refused and loses nothing",
  "128k",
  async (place, disk) => {
    const issuer = await place.open();
    let count = 0;
    const fill = async () => {
      for (; count < 1_000; count++) {
        await issuer.append(upsert({ event_id: `e${count}` }));
      }
    };
    await expectSigError(
      fill(),
      "write_failed",
      "no space is left on the device (ENOSPC)",
    );
    assert(count > 10);
    assertEquals((await readFeed(place)).length, count);
    disk.remount("size=4m");
    const { sequence } = await issuer.append(upsert({ event_id: `e${count}` }));
    assertEquals(sequence, count + 1);
    assertEquals((await readFeed(place)).length, count + 1);
  },
);

issuerTest(
  "a rotation on a full disk is refused and can be completed later",
  "256k",
  async (place, disk) => {
    const issuer = await place.open();
    await issuer.append(upsert());
    // One page for the private key, none for the documents.
    disk.fill(1);
    await expectSigError(
      issuer.rotateKey({ kid: "key-2" }),
      "write_failed",
      "ENOSPC",
    );
    await readFeed(place);
    disk.remount("size=4m");
    await issuer.append(upsert());
    await issuer.rotateKey({ kid: "key-2" });
    await issuer.append(upsert());
    assertEquals((await readFeed(place)).length, 3);
  },
);

issuerTest(
  "a read-only file system is an error, and appends succeed after it is writable again",
  "1m",
  async (place, disk) => {
    const before = await place.open();
    await before.append(upsert());
    await before.close();
    disk.remount("ro");
    const issuer = await place.open();
    const works = [
      () => issuer.append(upsert()),
      () => issuer.rotateKey({ kid: "key-2" }),
      () => init({ ...place, dir: `${place.base}/new` }),
    ];
    for (const work of works) {
      await expectSigError(work, "write_failed", "read-only (EROFS)");
    }
    disk.remount("rw");
    assertEquals((await issuer.append(upsert())).sequence, 2);
  },
);
