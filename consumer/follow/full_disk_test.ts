import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { smallDiskTest } from "../../tests/kit/small_disk.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { createConsumer } from "../create_consumer.ts";
import { openPinStore } from "../memory/open_pin_store.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const [key] = await importTestKeys();

/** How many events a new process verifies. */
async function look(did: string, file: string): Promise<number> {
  const pins = await openPinStore(file);
  try {
    const options = { issuers: [did], allowPrivate: true, pins };
    return (await createConsumer(options).verify(did)).feed.verifiedEvents;
  } finally {
    await pins.close();
  }
}

/** How many feeds have lines in a file. */
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
  "a full disk leaves no part of a first reading behind",
  "700k",
  async (disk) => {
    await using issuer = await watchIssuer(1_500, key);
    await using other = await watchIssuer(3, key);
    const file = `${disk.path}/pins.db`;
    const fill = async () => {
      await expectSigError(
        () => look(issuer.did, file),
        "store_unavailable",
        `Cannot use store ${file}: it can't be written, the disk may be full`,
      );
      assertEquals(countFeeds(file), 0);
    };
    await fill();
    // There is room, but not enough.
    disk.remount("size=1m");
    await fill();
    disk.remount("size=4m");
    assertEquals(await look(other.did, file), 3);
    assertEquals(countFeeds(file), 1);
    assertEquals(await look(issuer.did, file), 1_500);
    assertEquals(countFeeds(file), 2);
  },
);
