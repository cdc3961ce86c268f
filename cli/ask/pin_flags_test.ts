import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  feedOf,
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import {
  type ConditionalServer,
  startConditionalServer,
} from "../../tests/kit/conditional_server.ts";
import {
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { denoArgs, sig, start } from "../testdata/process.ts";
import { assertRan } from "../testdata/workspace.ts";
import { run, tempFolder } from "../../tests/kit/process.ts";
import { repeatedly } from "../../tests/kit/wait.ts";

// promise: A killed `sig` leaves a pin that covers the bytes of its digest.

const [key] = await importTestKeys();

/** Number of kills in each test; a soak test sets more. */
const ROUNDS = Number(Deno.env.get("SIG_ROUNDS") ?? "1");

interface Place {
  readonly cwd: string;
  readonly host: string;
  readonly server: ConditionalServer;
  /** Arguments of `sig check` about the issuer. */
  readonly check: readonly string[];
  readonly ack: readonly string[];
  /** Serves the first `events` events. */
  publish(events: number): void;
}

/** Runs `work` with an issuer of many events on a server, and a folder. */
async function withPlace(
  events: number,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  await using server = startConditionalServer();
  const { did, origin, documents } = server;
  const lines = await makeLines(events, key!, { issuer: did });
  const made = makeDocuments({ did, origin, keys: [key!], lines });
  for (const [path, text] of made) documents.set(path, text);
  await using folder = await tempFolder();
  const cwd = folder.path;
  const host = origin.slice("http://".length);
  await work({
    cwd,
    host,
    server,
    check: [
      ...["check", "--sig", host, "--allow-insecure", "--subject"],
      ...["did:web:alice.example", "--require", "role=deploy"],
    ],
    ack: `pin ack ${host} --allow-insecure --reason test --yes`.split(" "),
    publish: (n) => documents.set(PATHS.feed, feedOf(lines.slice(0, n))),
  });
}

/** Kills `sig` when `hasCome` returns true; false if it ended before. */
async function kill(
  words: readonly string[],
  { cwd }: Place,
  hasCome: () => boolean,
): Promise<boolean> {
  await using child = start(words, { cwd });
  using _killing = repeatedly(1, () => {
    if (hasCome()) child.signal("SIGKILL");
  });
  const { signal } = await child.ended();
  return signal === "SIGKILL";
}

/** Returns a condition that is true once `sig` has received the feed. */
function afterFeed({ server }: Place): () => boolean {
  const { length } = server.of(PATHS.feed);
  return () => server.of(PATHS.feed).length > length;
}

async function forgetAll({ cwd }: Place): Promise<void> {
  for (const end of ["", "-wal", "-shm"]) {
    await Deno.remove(`${cwd}/data/sig/pins.db${end}`).catch(() => {});
  }
}

async function answerOf(words: readonly string[], { cwd }: Place) {
  const { code, stdout, stderr } = await sig(words, { cwd });
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout);
}

Deno.test("after a killed first verification, the next one succeeds", () =>
  withPlace(800, async (place) => {
    let killed = 0;
    for (let round = 0; killed < ROUNDS; round++) {
      assert(round < ROUNDS + 20, "each process ended before it was killed");
      await forgetAll(place);
      if (await kill(place.check, place, afterFeed(place))) killed++;
      const answer = await answerOf(place.check, place);
      assertEquals(answer.decision, "allow");
      assertEquals(answer.last_sequence, 800);
    }
  }));

Deno.test("after a killed incremental verification, the pin is valid", () =>
  withPlace(800, async (place) => {
    place.publish(200);
    await answerOf(place.check, place);
    const saved = `${place.cwd}/saved.db`;
    const path = `${place.cwd}/data/sig/pins.db`;
    await Deno.copyFile(path, saved);
    place.publish(800);
    for (let round = 0; round < ROUNDS; round++) {
      await forgetAll(place);
      await Deno.copyFile(saved, path);
      await kill(place.check, place, afterFeed(place));
      const { stdout } = await sig(
        ["pin", "show", place.host, "--format", "json"],
        place,
      );
      const pin = JSON.parse(stdout);
      assert(pin.sequence >= 200 && pin.sequence <= 800);
      // The digest of the pin must be that of the bytes that it covers.
      const feed = place.server.documents.get(PATHS.feed) as Uint8Array<
        ArrayBuffer
      >;
      const digest = await crypto.subtle.digest(
        "SHA-256",
        feed.slice(0, pin.bytes),
      );
      assertEquals(pin.prefix_sha256, new Uint8Array(digest).toHex());
      const answer = await answerOf(place.check, place);
      assertEquals([answer.continuity, answer.last_sequence], [
        "consistent",
        800,
      ]);
    }
  }));

Deno.test("a killed acknowledgement is either complete or had no effect", () =>
  withPlace(800, async (place) => {
    await answerOf(place.check, place);
    for (let round = 0; round < ROUNDS; round++) {
      place.publish(400 - round);
      const { code } = await sig(place.check, place);
      assertEquals(code, 2);
      await kill(place.ack, place, afterFeed(place));
      const { stdout } = await sig(
        ["pin", "show", place.host, "--format", "json"],
        place,
      );
      const pin = JSON.parse(stdout);
      const isDone = pin.sequence === 400 - round;
      assertEquals(pin.incident?.code, isDone ? undefined : "feed_rolled_back");
      if (isDone) continue;
      assertRan(await sig(place.ack, place));
    }
    assertEquals((await answerOf(place.check, place)).continuity, "consistent");
  }));

Deno.test("concurrent processes share one pin store, and all succeed", () =>
  withPlace(300, async (place) => {
    for (const events of [100, 300]) {
      place.publish(events);
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => answerOf(place.check, place)),
      );
      for (const answer of answers) {
        assertEquals([answer.decision, answer.last_sequence], [
          ...["allow", events],
        ]);
      }
    }
    const { stdout } = await sig(["pin", "list", "--format", "json"], place);
    assertEquals(JSON.parse(stdout)[0].sequence, 300);
  }));

Deno.test("a full disk is an error that keeps the pin", () =>
  withPlace(1_500, async (place) => {
    const { check } = place;
    await Deno.mkdir(`${place.cwd}/data`);
    place.publish(100);
    await answerOf(check, place);
    place.publish(1_500);
    const limited = await run("sh", [
      // The limit is in blocks of 512 bytes. The kernel writes up to it, then
      // fails with EFBIG.
      ...["-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"],
      ...[Deno.execPath(), ...denoArgs(check, place)],
    ], { cwd: place.cwd, env: { XDG_DATA_HOME: `${place.cwd}/data` } });
    const full = "it can't be written, the disk may be full";
    const err = ['"code":"store_unavailable"', "pins.db", full];
    assertRan(limited, { code: 2, err });
    const answer = await answerOf(check, place);
    assertEquals([answer.continuity, answer.last_sequence], [
      ...["consistent", 1_500],
    ]);
  }));

Deno.test("KV does not overwrite a SQLite pin store, with minimal permissions", async () => {
  await using folder = await tempFolder();
  const cwd = folder.path;
  const permissions = [
    ...["--allow-read", "--allow-write", "--unstable-kv"],
    "--allow-env=XDG_DATA_HOME,HOME,NO_COLOR,SIG_REDIS_PASSWORD",
  ];
  const list = (pins: string) =>
    sig(["pin", "list", "--pins", pins], { cwd, permissions });
  assertEquals((await list("pins.db")).code, 0);
  const before = await Deno.readFile(`${cwd}/pins.db`);
  assertRan(await list("kv:pins.db"), {
    code: 2,
    err: "the file belongs to another program",
  });
  assertEquals(await Deno.readFile(`${cwd}/pins.db`), before);
  assertEquals((await list("kv:pins.kv")).code, 0);
  assertEquals((await list("kv:pins.kv")).code, 0);
  // On a machine this would be a database of the program, at an unknown path.
  assertRan(await list("kv:"), {
    code: 2,
    err: "invalid_request: Cannot run: --pins kv: needs a path",
  });
});

Deno.test({
  name:
    "an unresponsive Redis is an error, and an empty one results in first_seen",
  ignore: !HAS_REDIS,
  fn: () =>
    withPlace(50, async (place) => {
      const redis = await startRedis();
      let again: Awaited<ReturnType<typeof startRedis>> | undefined;
      try {
        const check = [...place.check, "--pins", redis.url];
        assertEquals((await answerOf(check, place)).continuity, "first_seen");
        assertEquals((await answerOf(check, place)).continuity, "consistent");
        const { code, stderr } = await whileFrozen(
          redis,
          () => sig(check, place),
        );
        assertEquals(code, 2);
        assertStringIncludes(stderr, '"code":"store_unavailable"');
        assertStringIncludes(stderr, redis.url);
        await redis.stop();
        again = await startRedis([], redis.port);
        assertRan(await sig([...check, "--require-pin"], place), {
          code: 2,
          err: "it has no pin of",
        });
        assertEquals((await answerOf(check, place)).continuity, "first_seen");
      } finally {
        await (again ?? redis).stop();
      }
    }),
});
