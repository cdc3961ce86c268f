import { assert, assertEquals } from "@std/assert";
import {
  type Behaviour,
  say,
  send,
  startRawServer,
  untilClosed,
} from "../../tests/kit/raw_server.ts";
import { ROOT, runWell } from "../../tests/kit/process.ts";
import { hold } from "../testdata/fetching.ts";
import { turns } from "../../tests/kit/wait.ts";

// promise: Hostile servers cause bounded memory.

const MIB = 1024 * 1024;
const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const LONG = `${OK}content-length: ${2 ** 40}\r\n\r\n`;

/** Sends the same bytes until the client closes, up to 256 MiB. */
function sendEndlessly(head: string, part: string): Behaviour {
  const bytes = new TextEncoder().encode(part);
  return async (connection) => {
    await send(connection, head);
    for (let sent = 0; sent < 256 * MIB; sent += bytes.length) {
      await send(connection, bytes);
    }
  };
}

/** Sends the same few bytes again and again, with pauses. */
function drip(head: string, part: string): Behaviour {
  return async (connection) => {
    await send(connection, head);
    for (;;) {
      await send(connection, part);
      await turns();
    }
  };
}

async function bomb(format: "gzip" | "deflate"): Promise<Uint8Array> {
  const zeros = new Blob([new Uint8Array(64 * MIB)]).stream();
  return await new Response(zeros.pipeThrough(new CompressionStream(format)))
    .bytes();
}

const encoded = (name: string, bytes: Uint8Array) =>
  say(
    `${OK}content-encoding: ${name}\r\ncontent-length: ${bytes.length}\r\n\r\n`,
    bytes,
  );

const [gzip, deflate] = [await bomb("gzip"), await bomb("deflate")];
const X = "x".repeat(MIB);

/** The 20 hostile endpoints, by path. */
const HOSTILE: Readonly<Record<string, Behaviour>> = {
  "/silent": untilClosed,
  "/half-head": hold(OK),
  "/drip-head": drip(OK, "a: b\r\n"),
  "/drip-hints": drip("", "HTTP/1.1 103 X\r\nlink: x\r\n\r\n"),
  "/no-http": sendEndlessly("", "H"),
  "/endless-header": sendEndlessly(`${OK}a: `, X),
  "/endless-headers": sendEndlessly(OK, "a: b\r\n".repeat(9999)),
  "/endless-status": sendEndlessly("HTTP/1.1 200 ", X),
  "/endless-length": sendEndlessly(LONG, X),
  "/endless-chunks": sendEndlessly(CHUNKED, `100000\r\n${X}\r\n`),
  "/one-chunk": sendEndlessly(`${CHUNKED}ffffffff\r\n`, X),
  "/tiny-chunks": sendEndlessly(CHUNKED, "1\r\nx\r\n".repeat(100_000)),
  "/chunk-extension": sendEndlessly(`${CHUNKED}1;a=`, X),
  "/trailers": sendEndlessly(`${CHUNKED}0\r\n`, `a: ${"b".repeat(9999)}\r\n`),
  "/unframed": sendEndlessly(`${OK}\r\n`, X),
  "/stalled": hold(`${OK}content-length: 9\r\n\r\n{`),
  "/drip-body": drip(`${OK}content-length: 999999\r\n\r\n`, "x"),
  "/gzip": encoded("gzip", gzip),
  "/deflate": encoded("deflate", deflate),
  "/gzip-twice": encoded("gzip, gzip", gzip),
};

/** The code depends on timing; each of these is a refusal. */
const REFUSALS = ["fetch_failed", "fetch_timeout", "document_too_large"];

const GOOD = say(`${OK}content-length: 2\r\n\r\n{}`);
const FETCHER = new URL("../testdata/fetch_hostile.ts", import.meta.url);

Deno.test("each of 20 hostile endpoints takes less than 64 MiB, and all concurrently less than 128", async () => {
  await using server = startRawServer(async (connection, request) => {
    const path = request.split(" ")[1] ?? "";
    await (HOSTILE[path] ?? GOOD)(connection, request);
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const words = ["run", "-A", "--no-check", FETCHER.href, origin];
  const paths = Object.keys(HOSTILE);
  const cwd = ROOT;
  const printed = await runWell(Deno.execPath(), [...words, ...paths], { cwd });
  const { growth, codes } = JSON.parse(printed);
  assertEquals(Object.keys(codes).length, 20);
  for (const [path, code] of Object.entries<string>(codes)) {
    assert(REFUSALS.includes(code), `${path}: ${code}`);
  }
  for (const [path, bytes] of Object.entries<number>(growth)) {
    const most = path === "all" ? 128 : 64;
    assert(bytes < most * MIB, `${path}: ${Math.round(bytes / MIB)} MiB`);
  }
});
