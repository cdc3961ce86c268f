import { assert, assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import { DatabaseSync } from "node:sqlite";
import { smallDiskTest } from "../../tests/kit/small_disk.ts";
import { importTestKeys, NOW } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { openPinStore } from "../pins/open_pin_store.ts";
import { IssuerName, locateIssuer } from "../read/source.ts";
import { refreshRemembered } from "./refresh_remembered.ts";

const [key] = await importTestKeys();
assert(key);

/** A first look of a process of its own, which stages a few events at a time. */
async function look(did: string, file: string) {
  const policy = { allowPrivate: true };
  const location = locateIssuer(IssuerName.parse(did, policy), policy);
  const options = { ...policy, now: NOW, report: false, batchEvents: 50 };
  const pins = await openPinStore(file);
  try {
    return (await refreshRemembered(pins, location, options)).outcome;
  } finally {
    await pins.close();
  }
}

/** Of how many states a file has rows. */
function countStates(path: string): number {
  const file = new DatabaseSync(path);
  try {
    const count = "SELECT count(DISTINCT state) AS n FROM rows";
    return Number(file.prepare(count).get()?.n);
  } finally {
    file.close();
  }
}

smallDiskTest(
  "what a full disk leaves of a first look goes with the next one, of whichever issuer",
  "700k",
  async (disk) => {
    await using issuer = await watchIssuer(1_500, key!);
    await using other = await watchIssuer(3, key!);
    const file = `${disk.path}/pins.db`;
    const fill = async () => {
      const outcome = await look(issuer.server.did, file);
      const error = outcome.observation === undefined && outcome.error;
      assert(isSigError(error, "store_unavailable"), String(error));
      assertEquals(
        error.message,
        `Cannot use the memory ${file}: it can't be written, the disk may be full`,
      );
      assertEquals(countStates(file), 1);
    };
    await fill();
    // There is room, but not enough.
    disk.remount("size=1m");
    await fill();
    disk.remount("size=4m");
    const outcome = await look(other.server.did, file);
    assertEquals(outcome.observation?.verified.feed.verifiedEvents, 3);
    assertEquals(countStates(file), 1);
    const again = await look(issuer.server.did, file);
    assertEquals(again.observation?.verified.feed.verifiedEvents, 1_500);
    assertEquals(countStates(file), 2);
  },
);
