import { createFileStore } from "@sig/issuer";
import { assertEquals, assertRejects } from "@std/assert";
import { readJson, writeJson } from "../testdata/documents.ts";
import {
  HOST,
  init,
  modeOf,
  type Place,
  placeTest as test,
  readFeed,
  upsert,
  walk,
  withPlace,
} from "../testdata/support.ts";
import { runWell } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const FEED = "/.well-known/sig/events.jsonl";
const isRoot = Deno.uid() === 0;

async function setFeedUri(place: Place, path: string) {
  const metadata = await readJson(place, "sig.json");
  const events_uri = `https://acme.example/${path}`;
  await writeJson(place, "sig.json", { ...metadata, events_uri });
}

/** Replaces the feed, or a folder above it, by something else. */
const OBSTACLES: readonly (readonly [
  what: string,
  path: string,
  make: (path: string, moved: string, place: Place) => unknown,
  message?: string,
])[] = [
  ["is a link to a file outside", FEED, (path, to) => Deno.symlink(to, path)],
  ["is a link to a file inside", FEED, async (path, to, { dir }) => {
    await Deno.rename(to, `${dir}/inside`);
    await Deno.symlink(`${dir}/inside`, path);
    await Deno.link(`${dir}/inside`, to);
  }],
  ["is a directory", FEED, (path) => Deno.mkdir(path)],
  ["is a FIFO", FEED, (path) => runWell("mkfifo", [path])],
  ...["/.well-known/sig", "/.well-known"].map((path) =>
    [
      `is below ${path}, a link`,
      path,
      (path: string, to: string) => Deno.symlink(to, path),
      "a symbolic link is in its path, and none is followed",
    ] as const
  ),
];

for (const [what, path, make, message] of OBSTACLES) {
  for (const isOpen of [false, true]) {
    const when = isOpen ? "even if it is open" : "before it is opened";
    test(`refuses a feed that ${what}, ${when}`, async ({ place }) => {
      const issuer = await place.open();
      if (isOpen) await issuer.append(upsert());
      const before = await Deno.readFile(place.feed);
      const moved = `${place.base}/moved`;
      await Deno.rename(place.dir + path, moved);
      await make(place.dir + path, moved, place);
      await expectSigError(
        issuer.append(upsert()),
        "invalid_metadata",
        message ??
          "must be a plain file (no symbolic link, FIFO or directory)",
      );
      await Deno.remove(place.dir + path);
      await Deno.rename(moved, place.dir + path);
      assertEquals(await Deno.readFile(place.feed), before);
      await issuer.append(upsert());
      assertEquals((await readFeed(place)).length, isOpen ? 2 : 1);
    });
  }
}

test("init refuses a directory in the place of the feed", async ({ place }) => {
  await Deno.remove(place.feed);
  await Deno.mkdir(place.feed);
  await Deno.remove(`${place.dir}/.well-known/sig.json`);
  await expectSigError(init(place), "invalid_metadata", "events.jsonl");
});

test("refuses a document that is a symbolic link", async ({ place }) => {
  for (const name of ["jwks.json", "did.json", "sig.json"]) {
    const path = `${place.dir}/.well-known/${name}`;
    await Deno.rename(path, `${place.base}/${name}`);
    await Deno.symlink(`${place.base}/${name}`, path);
    await expectSigError(place.open(), "invalid_metadata", name);
    await Deno.remove(path);
    await Deno.rename(`${place.base}/${name}`, path);
  }
});

for (
  const uri of [
    ...["", "feed/", "..%2f..%2fetc%2fpasswd", "%2e%2e%5cx", "a%00b", "a//b"],
    ...["%ff", ".sig/lock", "%2esig/events.jsonl"],
  ]
) {
  test(`refuses an events_uri that could leave the directory: /${uri}`, async ({ place }) => {
    await setFeedUri(place, uri);
    await expectSigError(
      place.open(),
      "invalid_metadata",
      "events_uri must name a file inside the issuer's directory",
    );
  });
}

test("resolves dots in a URI below the root", async ({ place }) => {
  await setFeedUri(place, "../../x/%2e%2e/../feed.jsonl");
  await Deno.rename(place.feed, `${place.dir}/feed.jsonl`);
  const issuer = await place.open();
  assertEquals((await issuer.append(upsert())).sequence, 1);
});

test(
  "opening an issuer does not create a missing directory",
  async ({ place }) => {
    await expectSigError(place.open(), "source_not_found", "no such directory");
    await assertRejects(() => Deno.stat(place.dir), Deno.errors.NotFound);
  },
  { empty: true },
);

test("the issuer's directory itself may be a symbolic link", async ({ place }) => {
  await Deno.symlink(place.dir, `${place.base}/link`);
  const issuer = await place.open({
    store: createFileStore(`${place.base}/link`),
  });
  assertEquals((await issuer.append(upsert())).sequence, 1);
});

test("refuses a private directory that is a file or a symbolic link", async ({ place }) => {
  await Deno.remove(`${place.dir}/.sig`, { recursive: true });
  await Deno.mkdir(`${place.base}/elsewhere`);
  await Deno.symlink(`${place.base}/elsewhere`, `${place.dir}/.sig`);
  const issuer = await place.open();
  await expectSigError(
    issuer.append(upsert()),
    "invalid_metadata",
    "it must be a directory",
  );
  assertEquals([...Deno.readDirSync(`${place.base}/elsewhere`)], []);
});

test("keeps the permission bits of a replaced document", async ({ place }) => {
  const path = `${place.dir}/.well-known/jwks.json`;
  await Deno.chmod(path, 0o664);
  await (await place.open()).rotateKey({ kid: "key-2" });
  assertEquals(modeOf(path), 0o664);
});

Deno.test({
  name: "reports a directory without write permission as an error",
  // Root may write everywhere.
  ignore: isRoot,
  fn: () =>
    withPlace(async (place) => {
      await Deno.chmod(place.feed, 0o400);
      const issuer = await place.open();
      await expectSigError(
        issuer.append(upsert()),
        "write_failed",
        "permission denied (EACCES)",
      );
      await Deno.chmod(`${place.dir}/.well-known`, 0o500);
      await expectSigError(
        issuer.rotateKey({ kid: "key-2" }),
        "write_failed",
        "permission denied (EACCES)",
      );
      await Deno.chmod(`${place.dir}/.well-known`, 0o700);
      await Deno.chmod(place.feed, 0o600);
      assertEquals((await issuer.append(upsert())).sequence, 1);
    }),
});

for (const step of ["written", "wrote-part"]) {
  test(`an append that fails at "${step}" is undone, and the next one succeeds`, async ({ place }) => {
    let fail = false;
    const faults = {
      maxWriteBytes: 400,
      onStep(at: string) {
        if (fail && at === step) throw new Error("EIO");
      },
    };
    const issuer = await place.open({ faults });
    await issuer.append(upsert({ event_id: "e1" }));
    const before = await Deno.readFile(place.feed);
    fail = true;
    await expectSigError(
      issuer.append(upsert({ event_id: "e2" })),
      "write_failed",
      "the write failed",
    );
    assertEquals(await Deno.readFile(place.feed), before);
    fail = false;
    await issuer.append(upsert({ event_id: "e2" }));
    assertEquals((await readFeed(place)).length, 2);
  });
}

/**
 * Sets or clears the append-only attribute of a file; returns false if
 * unsupported.
 */
function onlyAppend(path: string, on: boolean): boolean {
  try {
    const args = [on ? "+a" : "-a", path];
    return new Deno.Command("chattr", { args, stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}

function canOnlyAppend(): boolean {
  const path = Deno.makeTempFileSync();
  try {
    return onlyAppend(path, true) && onlyAppend(path, false);
  } finally {
    Deno.removeSync(path);
  }
}

Deno.test({
  name: "writes nothing after a failure that can't be undone",
  ignore: !canOnlyAppend(),
  fn: () =>
    withPlace(async (place) => {
      const onStep = (at: string) => {
        if (at === "written") throw new Error("EIO");
      };
      const issuer = await place.open({ faults: { onStep } });
      onlyAppend(place.feed, true);
      try {
        for (const message of ["the write failed", "could not be undone"]) {
          await expectSigError(
            issuer.append(upsert({ event_id: "e1" })),
            "write_failed",
            message,
          );
        }
      } finally {
        onlyAppend(place.feed, false);
      }
      // The next writer finds a complete event that was not acknowledged.
      const next = await place.open();
      const { repeated } = await next.append(upsert({ event_id: "e1" }));
      assertEquals(repeated, true);
      assertEquals((await readFeed(place)).length, 1);
    }),
});

// promise: No created file is writable by other users.

Deno.test("no file is writable for other users, even under umask 000", async () => {
  const before = Deno.umask(0);
  try {
    await withPlace(async (place, issuer) => {
      await issuer.append(upsert());
      await issuer.rotateKey({ kid: "key-2" });
      await issuer.append(upsert());
      await issuer.close();
      const folders = ["", "/.sig", "/.well-known", "/.well-known/sig"]
        .map((path) => `/issuer${path}`);
      const paths = [...walk(place.base), ...folders, "/keys", `/keys/${HOST}`];
      const isOpen = (path: string) =>
        (modeOf(place.base + path) & 0o022) !== 0;
      assertEquals(paths.filter(isOpen), []);
    });
  } finally {
    Deno.umask(before);
  }
});
