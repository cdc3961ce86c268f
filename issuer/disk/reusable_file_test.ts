import { createFileStore, type FeedWriter } from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import { look, openFile } from "./disk.ts";
import {
  type Place,
  type PlaceTest,
  placeTest as test,
  upsert,
  withPlace,
} from "../testdata/support.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const FEED = "/.well-known/sig/events.jsonl";
const NOW = { timeoutMs: 0 };

/** Returns the open files below the issuer's directory, except the index. */
function openPaths(place: Place): readonly string[] {
  const root = Deno.realPathSync(place.dir);
  return [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`);
    } catch {
      return "";
    }
  }).filter((path) => path.startsWith(root) && !path.includes("/index.db"))
    .map((path) => path.slice(root.length)).sort();
}

/** Defines a test that inspects the open files of this process. */
function linuxTest(name: string, fn: PlaceTest): void {
  const ignore = Deno.build.os !== "linux";
  Deno.test({ name, ignore, fn: () => withPlace(fn) });
}

linuxTest(
  "keeps lock and feed open between appends, until close",
  async (place, issuer) => {
    assertEquals(openPaths(place), []);
    for (let n = 0; n < 3; n++) {
      await issuer.append(upsert());
      assertEquals(openPaths(place), ["/.sig/lock", FEED]);
    }
    await issuer.close();
    assertEquals(openPaths(place), []);
  },
);

linuxTest(
  "a store that is closed during an operation leaves no file open",
  async (place) => {
    const store = createFileStore(place.dir);
    await store.exclusively(NOW, async (writer) => {
      await writer.openFeed(FEED);
      await store.close();
    });
    assertEquals(openPaths(place), []);
  },
);

linuxTest(
  "opens the feed again after a failed append",
  async (place) => {
    let fail = false;
    const onStep = (at: string) => {
      if (fail && at === "written") throw new Error("EIO");
    };
    const issuer = await place.open({ faults: { onStep } });
    await issuer.append(upsert());
    fail = true;
    await expectSigError(
      issuer.append(upsert()),
      "write_failed",
      "the write failed",
    );
    assertEquals(openPaths(place), ["/.sig/lock"]);
    fail = false;
    assertEquals((await issuer.append(upsert())).sequence, 2);
    assertEquals(openPaths(place), ["/.sig/lock", FEED]);
  },
);

test("a reused lock still excludes, within a store and between two, even if its file is deleted, also while it is held", async ({ place }) => {
  const stores = [createFileStore(place.dir), createFileStore(place.dir)];
  const openFeed = async (writer: FeedWriter) =>
    void await writer.openFeed(FEED);
  const removeLock = () => Deno.remove(`${place.dir}/.sig/lock`);
  for (const deleted of ["never", "before", "held"]) {
    // Neither the lock file nor the feed stays locked.
    for (const each of stores) await each.exclusively(NOW, openFeed);
    if (deleted === "before") await removeLock();
    await stores[0]!.exclusively(NOW, async (writer) => {
      if (deleted === "held") {
        await openFeed(writer);
        await removeLock();
      }
      for (const each of stores) {
        await expectSigError(
          each.exclusively(NOW, openFeed),
          "feed_locked",
          "holds the feed's lock (waited 0 ms)",
        );
      }
    });
  }
  for (const each of stores) await each.close();
});

Deno.test("an open file is identified by path, inode and permission bits", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/file`;
  const other = `${folder.path}/other`;
  const file = openFile(path, { write: true, create: true, mode: 0o600 });
  const isStill = () => file.isOpenOf(path, look(path));
  assert(isStill());
  file.writeAll(new Uint8Array(3));
  assert(isStill(), "its size does not matter");
  await Deno.link(path, other);
  assert(!file.isOpenOf(other, look(other)), "another name");
  await Deno.chmod(path, 0o400);
  assert(!isStill(), "other permission bits");
  await Deno.chmod(path, 0o600);
  assert(isStill());
  await Deno.remove(path);
  assert(!isStill(), "no name");
  await Deno.writeFile(path, new Uint8Array(3), { mode: 0o600 });
  assert(!isStill(), "another inode");
  file.close();
});
