import { createFileStore } from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import { look, openFile, ReusableFile } from "./disk.ts";
import {
  type Place,
  readFeed,
  upsert,
  withPlace,
} from "../testdata/support.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const FEED = "/.well-known/sig/events.jsonl";
const NOW = { timeoutMs: 0 };

/** What this process has open below the issuer's directory, but the index. */
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

Deno.test({
  name: "lock and feed stay open from one append to the next, until close",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withPlace(async (place) => {
      const issuer = await place.open();
      assertEquals(openPaths(place), []);
      for (let n = 0; n < 3; n++) {
        await issuer.append(upsert());
        assertEquals(openPaths(place), ["/.sig/lock", FEED]);
      }
      await issuer.close();
      assertEquals(openPaths(place), []);
    }),
});

Deno.test({
  name: "a store that is closed within a turn keeps nothing open after it",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withPlace(async (place) => {
      const store = createFileStore(place.dir);
      await store.exclusively(NOW, async (writer) => {
        await writer.openFeed(FEED);
        await store.close();
      });
      assertEquals(openPaths(place), []);
    }),
});

Deno.test({
  name: "a feed whose append failed is opened again",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withPlace(async (place) => {
      let fail = false;
      const onStep = (at: string) => {
        if (fail && at === "written") throw new Error("EIO");
      };
      const store = createFileStore(place.dir, { faults: { onStep } });
      const issuer = await place.open({ store });
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
    }),
});

Deno.test("a lock that was used before still excludes, within a store and between two", () =>
  withPlace(async (place) => {
    const store = createFileStore(place.dir);
    const other = createFileStore(place.dir);
    const nothing = () => Promise.resolve();
    for (const each of [store, other]) await each.exclusively(NOW, nothing);
    await store.exclusively(NOW, async (writer) => {
      await writer.openFeed(FEED);
      for (const each of [store, other]) {
        await expectSigError(
          each.exclusively(NOW, nothing),
          "feed_locked",
          "holds the feed's lock (waited 0 ms)",
        );
      }
    });
    // Neither the lock nor the feed's own is left behind.
    await other.exclusively(NOW, async (writer) => {
      await writer.openFeed(FEED);
    });
    await store.exclusively(NOW, async (writer) => {
      await writer.openFeed(FEED);
    });
    for (const each of [store, other]) await each.close();
  }));

Deno.test("a lock file that was deleted between two turns is created again, and excludes", () =>
  withPlace(async (place) => {
    const store = createFileStore(place.dir);
    const other = createFileStore(place.dir);
    await store.exclusively(NOW, () => Promise.resolve());
    await Deno.remove(`${place.dir}/.sig/lock`);
    await store.exclusively(NOW, async () => {
      await expectSigError(
        other.exclusively(NOW, () => Promise.resolve()),
        "feed_locked",
        "waited 0 ms",
      );
    });
    for (const each of [store, other]) await each.close();
  }));

Deno.test("a feed that is open is not written when its path names another thing", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.append(upsert({ event_id: "e1" }));
    const before = await Deno.readFile(place.feed);
    const moved = `${place.base}/moved`;
    await Deno.rename(place.feed, moved);
    const refusals: readonly (readonly [
      () => Promise<unknown>,
      "source_not_found" | "invalid_metadata",
      string,
    ])[] = [
      [() => Promise.resolve(), "source_not_found", "is missing"],
      [
        () => Deno.symlink(moved, place.feed),
        "invalid_metadata",
        "must be a plain file",
      ],
      [
        async () => {
          await Deno.remove(place.feed);
          await Deno.mkdir(place.feed);
        },
        "invalid_metadata",
        "must be a plain file",
      ],
    ];
    for (const [change, code, message] of refusals) {
      await change();
      await expectSigError(issuer.append(upsert()), code, message);
      assertEquals(await Deno.readFile(moved), before);
    }
    await Deno.remove(place.feed);
    await Deno.rename(moved, place.feed);
    assertEquals((await issuer.append(upsert())).sequence, 2);
    assertEquals((await readFeed(place)).length, 2);
  }));

Deno.test("a feed that is open is not written through a directory that became a symbolic link", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.append(upsert());
    const folder = `${place.dir}/.well-known/sig`;
    await Deno.rename(folder, `${place.base}/moved`);
    await Deno.symlink(`${place.base}/moved`, folder);
    await expectSigError(
      issuer.append(upsert()),
      "invalid_metadata",
      "a symbolic link is in its path",
    );
    await Deno.remove(folder);
    await Deno.rename(`${place.base}/moved`, folder);
    assertEquals((await readFeed(place)).length, 1);
  }));

Deno.test("an open file is known by path, inode and permission bits", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/file`;
  const other = `${dir}/other`;
  const file = openFile(path, { write: true, create: true, mode: 0o600 });
  try {
    const isStill = () => file.isWhat(path, look(path));
    assert(isStill());
    file.writeAll(new Uint8Array(3));
    assert(isStill(), "its size does not matter");
    await Deno.link(path, other);
    assert(!file.isWhat(other, look(other)), "another name");
    await Deno.chmod(path, 0o400);
    assert(!isStill(), "other permission bits");
    await Deno.chmod(path, 0o600);
    assert(isStill());
    await Deno.remove(path);
    assert(!isStill(), "no name");
    await Deno.writeFile(path, new Uint8Array(3), { mode: 0o600 });
    assert(!isStill(), "another inode");
  } finally {
    file.close();
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("one file is kept; a second one and any after close are closed", async () => {
  const path = await Deno.makeTempFile();
  const kept = new ReusableFile();
  const [first, second, third] = [1, 2, 3].map(() =>
    openFile(path, { write: true })
  );
  assert(first && second && third);
  assert(first.tryLock());
  kept.keep(first);
  assert(second.tryLock(), "what is kept is not locked");
  kept.keep(second);
  assert(third.tryLock(), "what is closed is not locked");
  assertEquals(kept.take(), first);
  assertEquals(kept.take(), undefined);
  kept.keep(first);
  kept.close();
  // The resource sanitizer sees whether any of them is still open.
  kept.keep(third);
  assertEquals(kept.take(), undefined);
  await Deno.remove(path);
});
