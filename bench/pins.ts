/**
 * What a fresh `sig check` costs on an issuer that is remembered, however large:
 * against one of 5 events, and against a first look at it.
 *
 * `deno run -A bench/pins.ts [events]`
 *
 * @module
 */

import { createIssuerSite } from "../cli/site/issuer_site.ts";
import { start as startSig } from "../cli/testdata/process.ts";
import { importTestKeys, makeDocuments } from "../tests/kit/test_issuer.ts";
import { lineOf, upsert } from "../tests/kit/test_issuer.ts";
import { median } from "./pairs.ts";

const EVENTS = Number(Deno.args[0] ?? "100000");
const PAIRS = 9;

const [key] = await importTestKeys();

/** An issuer's directory; the feed is written in pieces. */
async function makeIssuer(
  dir: string,
  did: string,
  origin: string,
  events: number,
): Promise<void> {
  const documents = makeDocuments({ did, origin, keys: [key!], lines: [] });
  await Deno.mkdir(`${dir}/.well-known/sig`, { recursive: true });
  for (const [path, text] of documents) {
    await Deno.writeFile(
      dir + path,
      typeof text === "string" ? new TextEncoder().encode(text) : text,
    );
  }
  const path = `${dir}/.well-known/sig/events.jsonl`;
  for (let at = 1; at <= events; at += 1_000) {
    const lines: string[] = [];
    for (let n = at; n < Math.min(at + 1_000, events + 1); n++) {
      const subject = `did:web:p${n}.example`;
      lines.push(await lineOf(upsert(n, { issuer: did, subject }), key!));
    }
    await Deno.writeTextFile(path, lines.map((l) => `${l}\n`).join(""), {
      append: true,
    });
  }
}

async function serve(cwd: string, name: string, events: number) {
  const site = createIssuerSite(`${cwd}/${name}`);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    site,
  );
  const { port } = server.addr;
  const origin = `http://127.0.0.1:${port}`;
  await makeIssuer(
    `${cwd}/${name}`,
    `did:web:127.0.0.1%3A${port}`,
    origin,
    events,
  );
  return { server, host: `127.0.0.1:${port}` };
}

const cwd = await Deno.makeTempDir();
const large = await serve(cwd, "large", EVENTS);
const small = await serve(cwd, "small", 5);

async function checkMs(host: string, ...words: string[]): Promise<number> {
  const start = performance.now();
  const child = startSig([
    ...["check", "--sig", host, "--allow-insecure", "--subject"],
    ...["did:web:p3.example", "--require", "role=deploy", ...words],
  ], { cwd });
  const { code, stderr } = await child.ended();
  if (code !== 0) throw new Error(stderr);
  return performance.now() - start;
}

try {
  const plain = await checkMs(large.host, "--no-pin");
  const first = await checkMs(large.host);
  await checkMs(small.host);
  const ratios: number[] = [];
  const times: [number, number][] = [];
  for (let i = 0; i < PAIRS; i++) {
    const pair: [number, number] = i % 2 === 0
      ? [await checkMs(large.host), await checkMs(small.host)]
      : [await checkMs(small.host), await checkMs(large.host)].reverse() as [
        number,
        number,
      ];
    times.push(pair);
    ratios.push(pair[0] / pair[1]);
  }
  const memory = await Deno.stat(`${cwd}/data/sig/pins.db`);
  console.log(
    `first look at ${EVENTS} events: ${Math.round(first)} ms, ` +
      `${Math.round(plain)} without a memory; remembered: ${
        Math.round(median(times.map(([a]) => a)))
      } ms; ` +
      `5 events: ${Math.round(median(times.map(([, b]) => b)))} ms; ` +
      `ratio ${median(ratios).toFixed(2)} (goal ≤ 2); ` +
      `memory ${Math.round(memory.size / 1024 / 1024)} MiB`,
  );
} finally {
  await large.server.shutdown();
  await small.server.shutdown();
  await Deno.remove(cwd, { recursive: true });
}
