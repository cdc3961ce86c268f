import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { smallDiskTest } from "../../tests/kit/small_disk.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { createConsumer } from "../create_consumer.ts";
import { openPinStore } from "../memory/open_pin_store.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const [key] = await importTestKeys();

/** Returns the number of events that a new process verifies. */
async function countVerified(did: string, file: string): Promise<number> {
  const pins = await openPinStore(file);
  try {
    const options = { issuers: [did], allowPrivate: true, pins };
    return (await createConsumer(options).verify(did)).feed.verifiedEvents;
  } finally {
    await pins.close();
  }
}

/** Returns the number of feeds with lines in a file. */
function countFeeds(path: string): number {
  const file = new DatabaseSync(path);
  try {
    const count = "SELECT count(*) AS n FROM feed";
    return Number(file.prepare(count).get()?.n);
  } finally {
    file.close();
  }
}

smallDiskTest(
  "a first read on a full disk stores nothing",
  "700k",
  async (disk) => {
    await using issuer = await watchIssuer(1_500, key);
    await using other = await watchIssuer(3, key);
    const file = `${disk.path}/pins.db`;
    const fill = async () => {
      await expectSigError(
        () => countVerified(issuer.did, file),
        "store_unavailable",
        `Cannot use store ${file}: it can't be written, the disk may be full`,
      );
      assertEquals(countFeeds(file), 0);
    };
    await fill();
    // The disk has space, but not enough.
    disk.remount("size=1m");
    await fill();
    disk.remount("size=4m");
    assertEquals(await countVerified(other.did, file), 3);
    assertEquals(countFeeds(file), 1);
    assertEquals(await countVerified(issuer.did, file), 1_500);
    assertEquals(countFeeds(file), 2);
  },
);
