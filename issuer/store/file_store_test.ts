import { createFileStore } from "@sig/issuer";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  init,
  type Place,
  readFeed,
  upsert,
  withPlace,
} from "../testdata/support.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const isRoot = Deno.uid() === 0;

async function run(command: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args }).output();
  assert(success, `${command} ${args.join(" ")}`);
}

async function setUris(place: Place, uris: Record<string, string>) {
  const path = `${place.dir}/.well-known/sig.json`;
  const metadata = JSON.parse(await Deno.readTextFile(path)) as object;
  await Deno.writeTextFile(path, JSON.stringify({ ...metadata, ...uris }));
}

Deno.test("a feed that is a symbolic link is refused, inside as outside", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    for (const target of [`${place.dir}/inside`, `${place.base}/outside`]) {
      await Deno.writeTextFile(target, "");
      await Deno.remove(place.feed);
      await Deno.symlink(target, place.feed);
      await expectSigError(
        issuer.append(upsert()),
        "invalid_metadata",
        "must be a plain file",
      );
      assertEquals(await Deno.readTextFile(target), "");
    }
  }));

Deno.test("a directory above the feed that is a symbolic link is refused", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await Deno.rename(`${place.dir}/.well-known/sig`, `${place.base}/moved`);
    await Deno.symlink(`${place.base}/moved`, `${place.dir}/.well-known/sig`);
    await expectSigError(
      issuer.append(upsert()),
      "invalid_metadata",
      "a symbolic link is in its path",
    );
    await Deno.rename(`${place.dir}/.well-known`, `${place.base}/well`);
    await Deno.symlink(`${place.base}/well`, `${place.dir}/.well-known`);
    await expectSigError(place.open(), "invalid_metadata", "symbolic link");
  }));

Deno.test("a document that is a symbolic link is refused", () =>
  withPlace(async (place) => {
    for (const name of ["jwks.json", "did.json", "sig.json"]) {
      const path = `${place.dir}/.well-known/${name}`;
      await Deno.rename(path, `${place.base}/${name}`);
      await Deno.symlink(`${place.base}/${name}`, path);
      await expectSigError(place.open(), "invalid_metadata", name);
      await Deno.remove(path);
      await Deno.rename(`${place.base}/${name}`, path);
    }
  }));

Deno.test("a feed that is a directory is refused", () =>
  withPlace(async (place) => {
    await Deno.remove(place.feed);
    await Deno.mkdir(place.feed);
    const issuer = await place.open();
    await expectSigError(
      issuer.append(upsert()),
      "invalid_metadata",
      "must be a plain file (no symbolic link, FIFO or directory)",
    );
    // A directory as an obstacle to init says so as well.
    await Deno.remove(`${place.dir}/.well-known/sig.json`);
    await expectSigError(init(place), "invalid_metadata", "events.jsonl");
  }));

Deno.test("a feed that is a FIFO is refused without waiting for a reader", () =>
  withPlace(async (place) => {
    await Deno.remove(place.feed);
    await run("mkfifo", place.feed);
    const issuer = await place.open();
    await expectSigError(
      issuer.append(upsert()),
      "invalid_metadata",
      "must be a plain file",
    );
  }));

for (
  const uri of [
    "https://acme.example/",
    "https://acme.example/feed/",
    "https://acme.example/..%2f..%2fetc%2fpasswd",
    "https://acme.example/%2e%2e%5cx",
    "https://acme.example/a%00b",
    "https://acme.example/a//b",
    "https://acme.example/%ff",
    "https://acme.example/.sig/lock",
    "https://acme.example/%2esig/events.jsonl",
  ]
) {
  Deno.test(`an events_uri that could leave the directory is refused: ${uri}`, () =>
    withPlace(async (place) => {
      await setUris(place, { events_uri: uri });
      await expectSigError(
        place.open(),
        "invalid_metadata",
        "events_uri must name a file inside the issuer's directory",
      );
    }));
}

Deno.test("dots in a URI are resolved below the root", () =>
  withPlace(async (place) => {
    await setUris(place, {
      events_uri: "https://acme.example/../../x/%2e%2e/../feed.jsonl",
    });
    await Deno.rename(place.feed, `${place.dir}/feed.jsonl`);
    const issuer = await place.open();
    assertEquals((await issuer.append(upsert())).sequence, 1);
  }));

Deno.test("a directory that does not exist is not made by opening", () =>
  withPlace(async (place) => {
    await expectSigError(place.open(), "source_not_found", "no such directory");
    await assertRejects(() => Deno.stat(place.dir), Deno.errors.NotFound);
  }, { empty: true }));

Deno.test("the issuer's directory may itself be reached by a symbolic link", () =>
  withPlace(async (place) => {
    await Deno.symlink(place.dir, `${place.base}/link`);
    const issuer = await place.open({
      store: createFileStore(`${place.base}/link`),
    });
    assertEquals((await issuer.append(upsert())).sequence, 1);
  }));

Deno.test("a private directory that is a file or a symbolic link is refused", () =>
  withPlace(async (place) => {
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
  }));

Deno.test("a published tree without its private directory is enough", () =>
  withPlace(async (place) => {
    await (await place.open()).append(upsert());
    await Deno.remove(`${place.dir}/.sig`, { recursive: true });
    assertEquals((await (await place.open()).append(upsert())).sequence, 2);
  }));

Deno.test("the permission bits of a replaced document are kept", () =>
  withPlace(async (place) => {
    const path = `${place.dir}/.well-known/jwks.json`;
    await Deno.chmod(path, 0o664);
    await (await place.open()).rotateKey({ kid: "key-2" });
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o664);
  }));

Deno.test("what a crash left of a temporary file does not stop the next one", () =>
  withPlace(async (place) => {
    await Deno.writeTextFile(`${place.dir}/.well-known/.jwks.json.tmp`, "{");
    await (await place.open()).rotateKey({ kid: "key-2" });
    const names = [...Deno.readDirSync(`${place.dir}/.well-known`)];
    assertEquals(names.some(({ name }) => name.endsWith(".tmp")), false);
  }));

Deno.test({
  name: "a directory without write permission is an error, and not a crash",
  // The superuser may write everywhere.
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

for (
  const [step, message] of [
    ["written", "the write failed"],
    ["wrote-part", "the write failed"],
  ] as const
) {
  Deno.test(`an append that fails at "${step}" is cut back, and the next one goes on`, () =>
    withPlace(async (place) => {
      let fail = false;
      const faults = {
        maxWriteBytes: 400,
        onStep(at: string) {
          if (fail && at === step) throw new Error("EIO");
        },
      };
      const store = createFileStore(place.dir, { faults });
      const issuer = await place.open({ store });
      await issuer.append(upsert({ event_id: "e1" }));
      const before = await Deno.readFile(place.feed);
      fail = true;
      await expectSigError(
        issuer.append(upsert({ event_id: "e2" })),
        "write_failed",
        message,
      );
      assertEquals(await Deno.readFile(place.feed), before);
      fail = false;
      const { sequence } = await issuer.append(upsert({ event_id: "e2" }));
      assertEquals(sequence, 2);
      assertEquals((await readFeed(place)).length, 2);
    }));
}

/** Lets a file only grow, or again be changed; false where that is unknown. */
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
  name: "after a failure that can't be undone nothing more is written",
  ignore: !canOnlyAppend(),
  fn: () =>
    withPlace(async (place) => {
      const onStep = (at: string) => {
        if (at === "written") throw new Error("EIO");
      };
      const store = createFileStore(place.dir, { faults: { onStep } });
      const issuer = await place.open({ store });
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
      // The next writer finds a whole event that was not acknowledged.
      const next = await place.open();
      const { repeated } = await next.append(upsert({ event_id: "e1" }));
      assertEquals(repeated, true);
      assertEquals((await readFeed(place)).length, 1);
    }),
});
