/**
 * Goals 1 and 3. A very large issuer: memory of a first read that is stored
 * (at most 448 MiB with 1,000,000 events), a new process of `sig check`
 * compared with one on an issuer of 5 events (at most 2 ×), and `sig who`
 * compared with a first read. Linux only. Argument: events.
 *
 * @module
 */

import { start as startSig } from "../cli/testdata/process.ts";
import { createIssuerSite } from "../cli/site/issuer_site.ts";
import {
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../tests/kit/test_issuer.ts";
import { serveLoopback } from "../tests/kit/loopback.ts";
import { tempFolder } from "../tests/kit/process.ts";
import { writeDocuments } from "../tests/kit/unpack_vectors.ts";
import { V8_FLAGS } from "../tools/programs.ts";
import { benchEvent } from "./feed.ts";
import { comparePairs } from "./pairs.ts";
import { memoryOf } from "./servers/start.ts";

const EVENTS = Number(Deno.args[0] ?? "1000000");
const PIECE = 1_000;

const [key] = await importTestKeys();
await using folder = await tempFolder();
const cwd = folder.path;

/** Serves an issuer from a folder. */
async function serve(name: string, events: number) {
  const dir = `${cwd}/${name}`;
  const server = serveLoopback(createIssuerSite(dir));
  const { did, origin } = server;
  const documents = makeDocuments({ did, origin, keys: [key], lines: [] });
  await writeDocuments(documents, dir);
  for (let at = 1; at <= events; at += PIECE) {
    let lines = "";
    for (let n = at; n < Math.min(at + PIECE, events + 1); n++) {
      lines += `${await lineOf({ ...benchEvent(did, n) }, key)}\n`;
    }
    await Deno.writeTextFile(dir + PATHS.feed, lines, { append: true });
  }
  return server;
}

/** Runs `sig`; returns its maximum memory in MiB. */
async function sig(...words: string[]): Promise<number> {
  // With the options of `deno task install` and of the executables.
  await using child = startSig(words, { cwd, permissions: ["-A", V8_FLAGS] });
  let most = 0;
  const watch = setInterval(async () => {
    most = Math.max(most, (await memoryOf(child.pid)).most || 0);
  }, 20);
  const { code, stderr } = await child.ended();
  clearInterval(watch);
  if (code !== 0) throw new Error(stderr);
  return most;
}

const check = (host: string, ...more: string[]) =>
  sig(
    ...["check", "--sig", host, "--allow-insecure", "--require", "role=deploy"],
    ...["--subject", "did:web:person-3.example", ...more],
  );

await using large = await serve("large", EVENTS);
await using small = await serve("small", 5);
const start = performance.now();
const most = await check(large.host);
const firstMs = performance.now() - start;
console.log(
  `first read of ${EVENTS} events, stored: ${(firstMs / 1000).toFixed(1)} s, ` +
    `${most.toFixed(0)} MiB maximum (goal: 448 with 1,000,000)`,
);
await check(small.host);
const { a, b, ratio } = await comparePairs(
  () => check(large.host),
  () => check(small.host),
  9,
);
console.log(
  `a new process of sig check ${a.toFixed(0)} ms, with 5 events ${
    b.toFixed(0)
  } ms: ` +
    `${ratio.toFixed(2)} × (goal: at most 2)`,
);
const before = performance.now();
await sig("who", "--sig", large.host, "--allow-insecure", "--role", "deploy");
const listMs = performance.now() - before;
console.log(
  `sig who: ${(listMs / 1000).toFixed(1)} s, ${
    (listMs / firstMs).toFixed(2)
  } × the first read`,
);
