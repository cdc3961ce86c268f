import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { smallDiskTest } from "../../tests/kit/small_disk.ts";
import { importTestKeys, NOW } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { openPinStore } from "../memory/open_pin_store.ts";
import { IssuerName, locateIssuer } from "../read/source.ts";
import { NOTHING_KNOWN } from "../memory/issuer_record.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { refreshRemembered } from "./refresh_remembered.ts";

const [key] = await importTestKeys();
assert(key);

/** A first look of a process of its own, which stages a few events at a time. */
async function look(did: string, file: string) {
  const policy = { allowPrivate: true };
  const location = locateIssuer(IssuerName.parse(did, policy), policy);
  const options = { ...policy, now: NOW };
  const pins = await openPinStore(file);
  try {
    const known = NOTHING_KNOWN;
    const { failure, record } = await refreshRemembered(
      ...[pins, location, known, options] as const,
    );
    if (failure !== undefined) throw failure.cause;
    return record.held!.observation;
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
  "a full disk leaves nothing of a first look behind",
  "700k",
  async (disk) => {
    await using issuer = await watchIssuer(1_500, key!);
    await using other = await watchIssuer(3, key!);
    const file = `${disk.path}/pins.db`;
    const fill = async () => {
      await expectSigError(
        () => look(issuer.server.did, file),
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
    const outcome = await look(other.server.did, file);
    assertEquals(outcome.verified.feed.verifiedEvents, 3);
    assertEquals(countFeeds(file), 1);
    const again = await look(issuer.server.did, file);
    assertEquals(again.verified.feed.verifiedEvents, 1_500);
    assertEquals(countFeeds(file), 2);
  },
);
