import { SigError } from "@sig/core";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Mirror, type MirrorOptions } from "./mirror.ts";
import { sha256Hex } from "./pin.ts";
import { IssuerDocuments, NO_DOCUMENTS } from "../read/issuer_documents.ts";
import { createRemoteReader, readAll } from "../read/reader.ts";
import {
  type ConditionalServer,
  startConditionalServer,
} from "../../tests/kit/conditional_server.ts";
import { PATHS } from "../../tests/kit/test_issuer.ts";
import { TestProcess } from "../../tests/kit/process.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";

// promise: A copy of a feed on disk is verified like fetched bytes; a damaged
//   one is not used, nor the issuer's fault.

const MAX_BYTES = 1_000_000;
const encoder = new TextEncoder();

/** Lines of 100 bytes. */
function linesOf(count: number, mark = "a"): string {
  return Array.from(
    { length: count },
    (_, i) => `${mark}${String(i + 1).padStart(98, "0")}\n`,
  ).join("");
}

interface Fixture {
  readonly server: ConditionalServer;
  readonly folder: string;
  /** Opens the copy as a new process would. */
  open(options?: Partial<MirrorOptions>): Promise<Mirror>;
  /** Publishes a feed and reads it to its end through a new mirror. */
  read(feed: string, options?: Partial<MirrorOptions>): Promise<Result>;
  feedRef: string;
  copyPath(): string;
}

interface Result {
  readonly text: string;
  readonly usedCopy: boolean;
  readonly sawDifference: boolean;
  readonly firstDifference: number | undefined;
  /** Bytes of each response. */
  readonly sent: readonly number[];
}

function test(name: string, run: (fixture: Fixture) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = `${await Deno.makeTempDir()}/sig/feeds`;
    await using server = startConditionalServer();
    const reader = createRemoteReader({ allowPrivate: true });
    const location = { reader, metadataRef: server.origin + PATHS.metadata };
    const feedRef = server.origin + PATHS.feed;
    let remembered: MirrorOptions["feed"];
    const open = (options: Partial<MirrorOptions> = {}) =>
      Mirror.open(location, { folder, feed: remembered, ...options });
    const read = async (feed: string, options?: Partial<MirrorOptions>) => {
      server.documents.set(PATHS.feed, feed);
      const before = server.exchanges.length;
      using mirror = await open(options);
      const text = await readFeed(mirror, feedRef);
      await mirror.keep(NO_DOCUMENTS);
      remembered = await digestOf(text);
      const { firstDifference, sawDifference, usedCopy } = mirror;
      const sent = server.exchanges.slice(before).map(({ bytes }) => bytes);
      return { text, usedCopy, sawDifference, firstDifference, sent };
    };
    const copyPath = () => {
      const [file] = [...Deno.readDirSync(folder)]
        .filter(({ name }) => !name.includes("."));
      return `${folder}/${file!.name}`;
    };
    try {
      await run({ server, folder, open, read, feedRef, copyPath });
    } finally {
      await Deno.remove(folder.replace("/sig/feeds", ""), { recursive: true });
    }
  });
}

/** What a pin remembers of a feed. */
async function digestOf(feed: string) {
  return { bytes: feed.length, sha256: await sha256Hex(feed) };
}

async function readFeed(mirror: Mirror, ref: string): Promise<string> {
  const document = await mirror.open(ref, {
    name: "feed",
    maxBytes: MAX_BYTES,
  });
  return new TextDecoder().decode(await readAll(document, MAX_BYTES));
}

const FEED = linesOf(1000);

test("a new process fetches the end of the copy and what was appended, or nothing", async ({ read, folder, copyPath }) => {
  const first = await read(FEED);
  assertEquals([first.text === FEED, first.usedCopy], [true, false]);
  const same = await read(FEED);
  assertEquals([same.text === FEED, same.usedCopy, same.sent], [true, true, [
    0,
  ]]);
  const longer = FEED + linesOf(3, "b");
  for (const sent of [16 * 1024 + 300, 0]) {
    const { text, ...more } = await read(longer);
    assert(text === longer);
    assertEquals(more, {
      usedCopy: true,
      sawDifference: false,
      firstDifference: undefined,
      sent: [sent],
    });
  }
  assertEquals(
    [folder, copyPath()].map((path) => Deno.statSync(path).mode! & 0o777),
    [0o700, 0o600],
  );
  assertEquals([...Deno.readDirSync(folder)].length, 2);
});

test("small documents are fetched again only if they have changed", async ({ open, server }) => {
  const ref = server.origin + PATHS.jwks;
  const read = async (text: string) => {
    server.documents.set(PATHS.jwks, text);
    using mirror = await open();
    const documents = new IssuerDocuments(mirror, mirror.documents);
    const document = await documents.open(ref, { name: "jwks", maxBytes: 100 });
    assertEquals(await readAll(document, 100), encoder.encode(text));
    await mirror.keep(documents.documents);
    return server.exchanges.at(-1)?.status;
  };
  assertEquals(await read("\ufeffone"), 200);
  assertEquals(await read("\ufeffone"), 304);
  assertEquals(await read("two"), 200);
  assertEquals(await read("two"), 304);
  assertEquals([...(await open({ useCopy: false })).documents], []);
});

test("a feed that was shortened is never completed from the copy", async ({ read }) => {
  const cuts = [1, 50, 100, 150, 16_000, 16_400, 20_000, 99_999, 100_000];
  for (const cut of cuts) {
    await read(FEED, { useCopy: false });
    const shorter = FEED.slice(0, FEED.length - cut);
    const { text, sawDifference } = await read(shorter);
    assertEquals(
      [text.length, sawDifference],
      [shorter.length, true],
      `${cut}`,
    );
    assert(text === shorter);
    // The shorter feed is the copy now, since the caller has accepted it.
    assert((await read(shorter)).text === shorter);
  }
});

test("a rewritten feed is served as it is, and the first differing event is known", async ({ read }) => {
  for (
    const [line, length] of [[995, 1000], [995, 1005], [1, 1000]]
  ) {
    await read(FEED, { useCopy: false });
    const at = (line! - 1) * 100 + 7;
    const changed = linesOf(length!);
    const other = `${changed.slice(0, at)}x${changed.slice(at + 1)}`;
    // Only the whole feed shows a change before the end of the copy.
    const { text, ...found } = await read(other, { useCopy: line !== 1 });
    assert(text === other);
    assertEquals([found.usedCopy, found.sawDifference], [false, true]);
    assertEquals(found.firstDifference, line);
    assert((await read(other)).text === other);
  }
});

test("other bytes that are then cut off count as a difference, the same bytes do not", async ({ folder }) => {
  let feed = FEED;
  let sentBytes = Infinity;
  let hasRanges = true;
  await using server = startRawServer(async (connection, request) => {
    const [, range] = hasRanges && /range: bytes=(\d+)-/i.exec(request) || [];
    const from = Number(range ?? 0);
    const head = range === undefined
      ? "HTTP/1.1 200 OK"
      : `HTTP/1.1 206 Partial\r\ncontent-range: bytes ${from}-${
        feed.length - 1
      }/${feed.length}`;
    const length = feed.length - from;
    // After other bytes, nothing is sent of the whole feed.
    const isSilent = hasRanges && range === undefined;
    const count = isSilent && feed !== FEED ? 0 : sentBytes;
    const body = feed.slice(from).slice(0, count);
    await say(`${head}\r\ncontent-length: ${length}\r\n\r\n${body}`)(
      connection,
      request,
    );
  });
  const reader = createRemoteReader({ allowPrivate: true });
  const location = { reader, metadataRef: server.url };
  for (
    const [ranges, text, sent, expected] of [
      [true, FEED, Infinity, { usedCopy: false, sawDifference: false }],
      [true, FEED, 5000, { usedCopy: false, sawDifference: false }],
      [true, linesOf(1000, "x"), 5000, {
        usedCopy: false,
        sawDifference: true,
      }],
      [false, FEED, 5000, { usedCopy: false, sawDifference: false }],
      [false, linesOf(1000, "x"), 5000, {
        usedCopy: false,
        sawDifference: true,
      }],
      // Nothing of this is kept.
      [true, FEED, Infinity, { usedCopy: true, sawDifference: false }],
    ] as const
  ) {
    [hasRanges, feed, sentBytes] = [ranges, text, sent];
    const remembered = await digestOf(FEED);
    using mirror = await Mirror.open(location, { folder, feed: remembered });
    const reading = readFeed(mirror, server.url);
    if (sent === Infinity) assert(await reading === text);
    else {await assertRejects(
        () => reading,
        SigError,
        "closed before the answer was complete",
      );}
    await mirror.keep(NO_DOCUMENTS);
    const { sawDifference, usedCopy } = mirror;
    assertEquals({ usedCopy, sawDifference }, expected);
  }
});

test("nothing is kept of a read that was not accepted, and no file is left", async ({ read, open, server, feedRef, folder }) => {
  await read(FEED);
  for (const feed of [`${FEED}${linesOf(2, "x")}`, linesOf(1000, "x")]) {
    server.documents.set(PATHS.feed, feed);
    {
      using mirror = await open();
      assert(await readFeed(mirror, feedRef) === feed);
    }
    assertEquals([...Deno.readDirSync(folder)].length, 2);
  }
  assertEquals((await read(FEED)).sent, [0]);
});

test("the tail that a running process asked for is appended to the copy", async ({ read, open, server, feedRef }) => {
  await read(FEED);
  const longer = FEED + linesOf(5, "b");
  server.documents.set(PATHS.feed, longer);
  {
    using mirror = await open();
    const document = await mirror.open(feedRef, {
      name: "feed",
      maxBytes: MAX_BYTES,
      conditions: { range: { from: FEED.length - 10 } },
    });
    assertEquals((await readAll(document, MAX_BYTES)).length, 510);
    assertEquals(mirror.usedCopy, false);
    await mirror.keep(NO_DOCUMENTS);
  }
  const remembered = await digestOf(longer);
  assertEquals((await read(longer, { feed: remembered })).sent, [0]);
});

test("only a copy of exactly what is remembered is used", async ({ read }) => {
  await read(FEED);
  const known = await digestOf(FEED);
  for (
    const [feed, usedCopy] of [
      [known, true],
      [undefined, false],
      [await digestOf(FEED.slice(0, -100)), false],
      [await digestOf(FEED.replace("a", "b")), false],
      [{ ...known, bytes: known.bytes + 1 }, false],
    ] as const
  ) {
    const found = await read(FEED, { feed });
    assertEquals([found.usedCopy, found.sawDifference], [usedCopy, false]);
  }
});

test("a damaged copy costs the bytes of the whole feed, and never the truth", async ({ read, copyPath, folder }) => {
  const damage = async (change: (bytes: Uint8Array) => Uint8Array) => {
    await read(FEED, { useCopy: false });
    const path = copyPath();
    await Deno.writeFile(path, change(await Deno.readFile(path)));
  };
  const flipped = (at: number) => (bytes: Uint8Array) => {
    bytes[at]! ^= 1;
    return bytes;
  };
  for (
    const change of [
      () => new Uint8Array(),
      (bytes: Uint8Array) => bytes.subarray(0, 50_000),
      flipped(0),
      flipped(FEED.length - 1),
      flipped(FEED.length - 16_000),
      flipped(3),
    ]
  ) {
    await damage(change);
    const longer = `${FEED}${linesOf(1, "b")}`;
    const { text, usedCopy } = await read(longer);
    assertEquals([text === longer, usedCopy], [true, false]);
    const repaired = await read(longer);
    assertEquals([repaired.text === longer, repaired.sent], [true, [0]]);
  }
  for (const name of ["", ".documents"]) {
    await Deno.writeTextFile(`${copyPath()}${name}`, '[["jwks",{},1]]');
    assert((await read(FEED)).text === FEED);
  }
  assertEquals([...Deno.readDirSync(folder)].length, 2);
});

test("a folder, a FIFO or a link in place of a copy is not opened", async ({ read, copyPath }) => {
  if (Deno.build.os === "windows") return;
  await read(FEED);
  const path = copyPath();
  for (
    const make of [
      (file: string) => Deno.mkdir(file),
      async (file: string) => {
        const { success } = await new Deno.Command("mkfifo", { args: [file] })
          .output();
        assert(success);
      },
      (file: string) => Deno.symlink("/dev/zero", file),
    ]
  ) {
    for (const file of [path, `${path}.documents`]) {
      await Deno.remove(file);
      await make(file);
      // Opening a FIFO would block this process.
      assert((await read(FEED)).text === FEED);
      await Deno.remove(file);
      await read(FEED);
      assertEquals((await read(FEED)).sent, [0]);
    }
  }
});

test("a part of another process that is not there any more costs no copy", async ({ read, copyPath }) => {
  await read(FEED);
  const part = `${copyPath()}.gone.part`;
  await Deno.symlink("/nowhere", part);
  await read(FEED + linesOf(1));
  assertEquals((await read(FEED + linesOf(2))).usedCopy, true);
  await Deno.remove(part);
});

test("without a folder that can be used, documents are only passed on", async ({ read, folder }) => {
  await Deno.writeTextFile(`${folder.replace("/sig/feeds", "")}/file`, "");
  for (let nth = 0; nth < 2; nth++) {
    const { text, usedCopy } = await read(FEED, {
      folder: `${folder}/../../file`,
    });
    assertEquals([text === FEED, usedCopy], [true, false]);
  }
});

test("a copy in a folder that another user may change is not used", async ({ read, folder, copyPath }) => {
  await read(FEED);
  assertEquals((await read(FEED)).usedCopy, true);
  if (Deno.build.os === "windows") return;
  const before = Deno.readFileSync(copyPath());
  for (const mode of [0o720, 0o702]) {
    await Deno.chmod(folder, mode);
    assertEquals((await read(`${FEED}${FEED}`)).usedCopy, false);
    assertEquals(Deno.readFileSync(copyPath()), before);
  }
  await Deno.chmod(folder, 0o755);
  const feed = await digestOf(FEED);
  assertEquals((await read(FEED, { feed })).usedCopy, true);
  assertEquals([...Deno.readDirSync(folder)].length, 2);
});

test("a removed copy is not used", async ({ read, folder, server }) => {
  await read(FEED);
  await Mirror.remove(folder, server.origin + PATHS.metadata);
  assertEquals([...Deno.readDirSync(folder)], []);
  assertEquals((await read(FEED)).usedCopy, false);
});

test("processes that share a copy, and are killed at any time, read what the server has", async ({ server, folder, read }) => {
  let count = 1000;
  // A feed that grows by one event with each request.
  server.documents.set(PATHS.feed, ({ headers }) => {
    const feed = linesOf(count++);
    const from = Number(/=(\d+)-/.exec(headers.get("range") ?? "")?.[1] ?? 0);
    if (from === 0) return new Response(feed);
    const range = `bytes ${from}-${feed.length - 1}/${feed.length}`;
    return new Response(feed.slice(from), {
      status: 206,
      headers: { "content-range": range },
    });
  });
  const program = new URL("../testdata/mirror_process.ts", import.meta.url);
  const start = (reads: number) =>
    new TestProcess(Deno.execPath(), [
      ...["run", "--no-check", "--quiet", "-A", program.pathname],
      ...[server.origin, folder, String(reads)],
    ]);
  await using one = start(60);
  await using two = start(60);
  for (const each of [one, two]) {
    await using killed = start(1e6);
    const { code, stderr, stdout } = await each.ended();
    assertEquals([code, stderr], [0, ""]);
    assertEquals(stdout, "60 reads, some from the copy\n");
    await killed.stop("SIGKILL");
  }
  const feed = linesOf(count);
  assert((await read(feed)).text === feed);
});
