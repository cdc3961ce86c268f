// Reads through a copy on disk: what is fetched, verified and remembered.

// promise: A copy of a feed on disk is verified like fetched bytes; a damaged
//   one is never used, and never reported as the issuer's fault.

import { SigError } from "@sig/core";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { rememberIssuer } from "../testdata/remembered_issuer.ts";
import { removePin } from "./manage_pins.ts";
import { FeedCopy, loadFiles } from "../memory/feed_copy.ts";
import { sha256Hex } from "../memory/pin.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { tempFolder, TestProcess } from "../../tests/kit/process.ts";
import { turns } from "../../tests/kit/wait.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { feedOf, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";

const [key] = await importTestKeys();

/** An issuer, and processes that share a pin store and a folder of copies. */
async function setUp(events = 40) {
  const folder = await tempFolder();
  const mirrorFolder = `${folder.path}/feeds`;
  const issuer = await rememberIssuer(events, { mirrorFolder });
  return {
    ...{ ...issuer, mirrorFolder },
    /** Publishes the feed with an event more. */
    async grow() {
      const longer = [...issuer.lines, await issuer.line(events + 1, key)];
      issuer.publish(longer);
      return longer;
    },
    /** Returns statuses and bytes of the feed's responses so far. */
    fetched: () =>
      issuer.server.of(PATHS.feed).map(({ status, bytes }) => [status, bytes]),
    /** Returns the files of the copies, with their bytes. */
    files: () =>
      [...Deno.readDirSync(mirrorFolder)].map(({ name }) => {
        const path = `${mirrorFolder}/${name}`;
        return [path, Deno.readFileSync(path)] as const;
      }),
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a new process fetches only what is new, and verifies everything", async () => {
  await using issuer = await setUp();
  const { server, mirrorFolder } = issuer;
  await issuer.verify();
  assertEquals((await issuer.verify()).feed.verifiedEvents, 40);
  const longer = await issuer.grow();
  for (const _process of [1, 2]) {
    const { feed, state } = await issuer.verify();
    assertEquals([feed.verifiedEvents, state.last_sequence], [41, 41]);
    assertEquals(feed.sha256, await sha256Hex(feedOf(longer)));
  }
  const tail = 16 * 1024 + longer[40]!.length + 1;
  assertEquals(issuer.fetched().slice(1), [[304, 0], [206, tail], [304, 0]]);
  // Small documents too are fetched only if they have changed.
  const keys = () => server.of(PATHS.jwks).map(({ status }) => status);
  assertEquals(keys(), [200, 304, 304, 304]);
  const jwks = server.documents.get(PATHS.jwks) as string;
  server.documents.set(PATHS.jwks, `${jwks} `);
  await issuer.verify();
  await issuer.verify({ full: true });
  assertEquals(keys().slice(4), [200, 200]);
  const paths = [mirrorFolder, ...issuer.files().map(([path]) => path)];
  const modes = paths.map((path) => Deno.statSync(path).mode! & 0o777);
  assertEquals(modes, [0o700, 0o600, 0o600]);
});

Deno.test("a running process appends the tail that it has fetched to the copy", async () => {
  await using issuer = await setUp();
  const { did, fresh } = issuer;
  const running = fresh();
  await running.verify(did);
  await issuer.grow();
  await running.verify(did);
  await issuer.verify();
  assertEquals(issuer.statuses(), [200, 206, 304]);
});

for (const full of [false, true]) {
  Deno.test(`a contradiction states the first event that differs (full: ${full})`, async () => {
    await using issuer = await setUp(3);
    const { line, lines, publish } = issuer;
    await issuer.verify();
    const { prefix_sha256: old } = await issuer.pin();
    const other = await line(2, key, { roles: ["deploy", "x"] });
    publish([...lines.with(1, other), await line(4, key)]);
    for (let process = 0; process < 2; process++) {
      const { context } = await expectSigError(
        () => issuer.verify({ full }),
        "feed_rewritten",
        "event 2 is not the one that is remembered",
      );
      assertEquals([context.sequence, context.remembered_sha256], [2, old]);
    }
    const { incident, sequence } = await issuer.pin();
    assertEquals([incident?.code, sequence], ["feed_rewritten", 3]);
    assertStringIncludes(incident?.detail ?? "", "event 2 is not the one");
    assertStringIncludes(incident?.detail ?? "", `was ${old}, is `);
  });
}

Deno.test("a damaged or exchanged copy is read again, and never the issuer's fault", async () => {
  await using issuer = await setUp();
  await issuer.verify();
  const clean = issuer.files();
  await using strange = await setUp();
  await strange.verify();
  const others = strange.files().map(([, bytes]) => bytes);
  let cases = 0;
  for (const [file, bytes] of clean) {
    const changes: Uint8Array[] = [
      new Uint8Array(),
      bytes.slice(0, bytes.length / 2),
      bytes.slice(0, -1),
      ...others,
    ];
    for (let nth = 0; nth < 25; nth++) {
      const at = Math.floor(bytes.length * nth / 25);
      changes.push(bytes.with(at, bytes[at]! ^ 1));
    }
    for (const changed of changes) {
      for (const [file, bytes] of clean) Deno.writeFileSync(file, bytes);
      Deno.writeFileSync(file, changed);
      const { state, warnings } = await issuer.verify();
      assertEquals([state.last_sequence, warnings], [40, []]);
      cases++;
    }
  }
  assert(cases > 50);
  const { incident, inconsistency } = await issuer.pin();
  assertEquals([incident, inconsistency], [null, null]);
});

Deno.test("a copy that changes while it is read is read again from the server", async () => {
  await using issuer = await setUp();
  const { lines, server } = issuer;
  await issuer.verify();
  const other = await issuer.line(1, key, { roles: ["deploy", "x"] });
  const otherHistory = feedOf(lines.with(0, other));
  const served = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  const tail = [...lines, await issuer.line(41, key)];
  for (
    const [changed, now] of [
      [served.with(200, served[200]! ^ 1), served],
      [served.slice(0, 300), served],
      [otherHistory, served],
      [otherHistory, feedOf(tail)],
    ] as const
  ) {
    await issuer.verify();
    const [copy] = issuer.files().map(([path]) => path).toSorted();
    server.documents.set(PATHS.feed, (request) => {
      // The copy was opened and compared before this request.
      Deno.writeFileSync(copy!, changed);
      return server.respond(request, now);
    });
    for (const full of [false, true]) {
      const { state, warnings } = await issuer.verify({ full });
      assertEquals([state.last_sequence >= 40, warnings], [true, []]);
    }
    server.documents.set(PATHS.feed, now);
  }
  const [copy] = issuer.files().map(([path]) => path).toSorted();
  server.documents.set(
    PATHS.feed,
    cutOff(feedOf(tail), () => Deno.writeFileSync(copy!, otherHistory)),
  );
  await assertRejects(() => issuer.verify({ full: true }), SigError, "Cannot ");
  const kept = await issuer.pins.get({ name: "pin" }, issuer.did, new Date(0));
  assertStringIncludes(kept!.text, '"status":"remembered"');
  const { incident, inconsistency } = await issuer.pin();
  assertEquals([incident, inconsistency], [null, null]);
});

Deno.test("a copy that was cut off while it was read stays refused once it is restored", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/feed`;
  const bytes = feedOf(["one", "two"]);
  Deno.writeFileSync(path, bytes);
  const sha256 = await sha256Hex(bytes);
  const copy = FeedCopy.open(loadFiles()!, path, { bytes: 8, sha256 })!;
  Deno.truncateSync(path, 4);
  assertEquals(copy.read(0, 8), feedOf(["one"]));
  Deno.writeFileSync(path, bytes);
  assertEquals(copy.hasSha256(sha256), false);
  copy.close();
});

/** Returns the first 5,000 bytes, then the connection breaks. */
const cutOff = (bytes: Uint8Array<ArrayBuffer>, onRead = () => {}) => () =>
  new Response(
    new ReadableStream({
      start: (to) => to.enqueue(bytes.slice(0, 100)),
      async pull(to) {
        await turns(20);
        onRead();
        to.enqueue(bytes.slice(100, 5_000));
        to.close();
      },
    }, { highWaterMark: 0 }),
    { headers: { "content-length": String(bytes.length) } },
  );

Deno.test("a copy never hides other bytes that were cut off", async () => {
  await using issuer = await setUp();
  const { did, lines, server: { documents } } = issuer;
  await issuer.verify();
  const served = documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  const forged = await issuer.line(1, key, { roles: ["other"] });
  const other = feedOf(lines.with(0, forged));
  const otherTail = (request: Request) =>
    issuer.server.respond(request, served.with(served.length - 2, 0x20));
  for (
    const [first, second, isFault] of [
      // Other bytes, then no answer.
      [status(416), status(503), true],
      [otherTail, status(503), true],
      [cutOff(other), status(503), true],
      [cutOff(served), status(503), false],
      [status(503), status(503), false],
    ] as const
  ) {
    const answers = [second, first];
    documents.set(
      PATHS.feed,
      (request) => (answers.pop() ?? status(503))(request),
    );
    await assertRejects(() => issuer.verify(), SigError, "Cannot ");
    // The state that was read before does not answer after a fault.
    const asked = issuer.fresh({ maxAgeMs: 60_000 }).check(did, QUESTION);
    if (isFault) await assertRejects(() => asked, SigError, "503");
    else assertEquals((await asked).decision, "allow");
    documents.set(PATHS.feed, served);
    await issuer.verify();
  }
});

Deno.test("a copy that is longer than what is remembered is not used", async () => {
  await using issuer = await setUp();
  const { lines, publish } = issuer;
  const longer = await issuer.grow();
  await issuer.verify({ pins: createMemoryStore() });
  const copies = issuer.files();
  for (const [file] of copies) Deno.removeSync(file);
  publish(lines);
  await issuer.verify();
  for (const [file, bytes] of copies) Deno.writeFileSync(file, bytes);
  // The entity tag of the copy would hide the event that it has more.
  publish(longer);
  assertEquals((await issuer.verify()).state.last_sequence, 41);
});

Deno.test("what was read answers in a new process within the maximum age, without a request", async () => {
  await using issuer = await setUp();
  const { did, server, pins } = issuer;
  const check = (maxAgeMs: number) =>
    issuer.fresh({ maxAgeMs }).check(did, QUESTION);
  await issuer.verify();
  issuer.wait(5_000);
  const { length } = server.exchanges;
  const { decision, freshness, continuity } = await check(60_000);
  assertEquals([decision, freshness?.age_seconds], ["allow", 5]);
  assertEquals(continuity, "consistent");
  assertEquals(server.exchanges.length, length);
  server.documents.delete(PATHS.metadata);
  assertEquals((await check(60_000)).decision, "allow");
  await expectSigError(() => check(4_000), "feed_stale", "older than 4 s");
  await expectSigError(() => check(0), "fetch_status", "404");
  // Not if another history is remembered.
  await removePin(pins, did);
  await expectSigError(() => check(60_000), "fetch_status", "404");
});

Deno.test("nothing is kept of a read that was not accepted", async () => {
  await using issuer = await setUp();
  const { lines, publish } = issuer;
  await issuer.verify();
  const before = issuer.files();
  for (const feed of [[...lines, "x"], ["x", ...lines], lines.slice(1)]) {
    publish(feed);
    await assertRejects(() => issuer.verify(), SigError, "Cannot ");
    assertEquals(issuer.files(), before);
  }
  publish(lines);
  await issuer.verify();
});

Deno.test("a folder, a FIFO or a link in place of a copy is not opened", async () => {
  if (Deno.build.os === "windows") return;
  await using issuer = await setUp();
  await issuer.verify();
  const fifo = async (file: string) => {
    const { success } = await new Deno.Command("mkfifo", { args: [file] })
      .output();
    assert(success);
  };
  for (
    const make of [
      (file: string) => Deno.mkdir(file),
      fifo,
      (file: string) => Deno.symlink("/dev/zero", file),
    ]
  ) {
    for (const [file] of issuer.files()) {
      await Deno.remove(file);
      await make(file);
      // Opening a FIFO would block this process.
      assertEquals((await issuer.verify()).state.last_sequence, 40);
      await Deno.remove(file, { recursive: true });
      await issuer.verify();
    }
  }
});

Deno.test("without a folder that no other user may change, nothing is read or kept", async () => {
  await using issuer = await setUp();
  const { mirrorFolder, files } = issuer;
  await issuer.verify();
  const before = files();
  await issuer.grow();
  const inFile = `${before[0]?.[0]}/feeds`;
  assertEquals(
    (await issuer.verify({ mirrorFolder: inFile })).feed.verifiedEvents,
    41,
  );
  if (Deno.build.os === "windows") return;
  for (const mode of [0o720, 0o702]) {
    await Deno.chmod(mirrorFolder, mode);
    await issuer.verify();
    assertEquals(files(), before);
  }
  await Deno.chmod(mirrorFolder, 0o755);
  await issuer.verify();
  await issuer.verify();
  assertEquals(issuer.statuses(), [200, 200, 200, 200, 200, 304]);
});

Deno.test("a part of another process that is not there any more costs no copy", async () => {
  await using issuer = await setUp();
  await issuer.verify();
  const [copy] = issuer.files().map(([path]) => path).toSorted();
  await Deno.symlink("/nowhere", `${copy}.gone.part`);
  await issuer.grow();
  await issuer.verify();
  await issuer.verify();
  assertEquals(issuer.statuses(), [200, 206, 304]);
});

Deno.test("processes that share a copy, and are killed at any time, read what the server has", async () => {
  await using issuer = await setUp(150);
  const { did, lines, mirrorFolder, server } = issuer;
  const all = feedOf(lines);
  const ends = [...all.keys()].filter((at) => all[at] === 0x0a);
  let count = 30;
  // A feed that grows by one event with each request.
  server.documents.set(PATHS.feed, (request) => {
    const end = ends[Math.min(count++, 149)]! + 1;
    return server.respond(request, all.slice(0, end));
  });
  const program = new URL("../testdata/mirror_process.ts", import.meta.url);
  const start = (reads: number) =>
    new TestProcess(Deno.execPath(), [
      ...["run", "--no-check", "--quiet", "-A", program.pathname],
      ...[did, mirrorFolder, String(reads)],
    ]);
  await using one = start(40);
  await using two = start(40);
  for (const each of [one, two]) {
    await using killed = start(1e6);
    const { code, stderr, stdout } = await each.ended();
    assertEquals([code, stderr, stdout], [0, "", "40 reads\n"]);
    await killed.stop("SIGKILL");
  }
  assert(issuer.fetched().some(([status]) => status === 206));
  assertEquals(
    (await issuer.verify()).state.last_sequence,
    Math.min(count, 150),
  );
});

Deno.test("a removed pin removes the copy", async () => {
  await using issuer = await setUp();
  const { did, pins, mirrorFolder, lines, publish } = issuer;
  await issuer.verify();
  assert(issuer.files().length > 0);
  await removePin(pins, did, { mirrorFolder });
  assertEquals(issuer.files(), []);
  publish(lines.slice(0, 3));
  assertEquals((await issuer.verify()).state.last_sequence, 3);
});
