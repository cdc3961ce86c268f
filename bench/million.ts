/**
 * A very large issuer: what a first look at it takes and keeps, what a fresh
 * `sig check` costs once it is remembered, and what an API holds of it.
 * Goals: 256 MiB for the first look, twice a check of 5 events, 64 MiB.
 * Resident memory is read from `/proc`, so on Linux alone.
 *
 * Run: `deno run -A bench/million.ts [EVENTS [RELATIONSHIPS]]`
 *
 * @module
 */

import { signEvent } from "@sig/jose";
import { start as startSig } from "../cli/testdata/process.ts";
import { V8_FLAGS } from "../tools/compile.ts";
import { createIssuerSite } from "../cli/site/issuer_site.ts";
import { importTestKeys, makeDocuments } from "../tests/kit/test_issuer.ts";
import { benchEvent } from "./event.ts";
import { median } from "./pairs.ts";
import { startServer } from "./servers/start.ts";

const EVENTS = Number(Deno.args[0] ?? "1000000");
const RELATIONSHIPS = Number(Deno.args[1] ?? EVENTS);
const PAIRS = 9;
const QUESTIONS = 50;
const SUBJECT = "did:web:person-3.example";
/** Whom another event is about, so that versions are far from each other. */
const STRIDE = 7_919;

const [key] = await importTestKeys();

/** The events of an issuer, in pieces of its feed. */
async function* feedOf(did: string, events: number): AsyncGenerator<string> {
  for (let at = 1; at <= events; at += 1_000) {
    let lines = "";
    for (let n = at; n < Math.min(at + 1_000, events + 1); n++) {
      const about = events <= RELATIONSHIPS
        ? n
        : 1 + n * STRIDE % RELATIONSHIPS;
      const { relationship_id, subject } = benchEvent(did, about);
      const event = { ...benchEvent(did, n), relationship_id, subject };
      lines += `${JSON.stringify(await signEvent(event, key))}\n`;
    }
    yield lines;
  }
}

/** An issuer of its own origin, served from a folder. */
async function serve(cwd: string, name: string, events: number) {
  const dir = `${cwd}/${name}`;
  await Deno.mkdir(`${dir}/.well-known/sig`, { recursive: true });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    createIssuerSite(dir),
  );
  const { port } = server.addr;
  const did = `did:web:127.0.0.1%3A${port}`;
  const origin = `http://127.0.0.1:${port}`;
  for (
    const [path, content] of makeDocuments({
      did,
      origin,
      keys: [key],
      lines: [],
    })
  ) {
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    await Deno.writeFile(dir + path, bytes);
  }
  const path = `${dir}/.well-known/sig/events.jsonl`;
  for await (const piece of feedOf(did, events)) {
    await Deno.writeTextFile(path, piece, { append: true });
  }
  return { server, did, host: `127.0.0.1:${port}` };
}

/** A line of `/proc/PID/status`, in MiB. */
async function memoryOf(pid: number, name: "VmHWM" | "VmRSS"): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
  return kib === undefined ? NaN : Math.round(Number(kib) / 1024);
}

interface RanSig {
  readonly ms: number;
  /** The most that was resident, in MiB. */
  readonly peak: number;
}

async function sig(cwd: string, ...words: string[]): Promise<RanSig> {
  const start = performance.now();
  // As `deno task install` and the executables start it.
  const permissions = ["-A", V8_FLAGS];
  const child = startSig(words, { cwd, permissions });
  let peak = NaN;
  const watch = setInterval(async () => {
    const seen = await memoryOf(child.pid, "VmHWM");
    if (!Number.isNaN(seen)) peak = seen;
  }, 20);
  const { code, stderr } = await child.ended();
  clearInterval(watch);
  if (code !== 0) throw new Error(stderr);
  return { ms: performance.now() - start, peak };
}

const check = (cwd: string, host: string, ...words: string[]) =>
  sig(
    cwd,
    ...["check", "--sig", host, "--allow-insecure", "--subject", SUBJECT],
    ...["--require", "role=deploy", ...words],
  );

/** What an API holds that has answered questions about a remembered issuer. */
async function apiMemory(
  cwd: string,
  { did }: { readonly did: string },
): Promise<number> {
  const api = await startServer("api/main.ts", [
    ...["--addr", "127.0.0.1:0", "--issuer", did, "--allow-insecure"],
    ...["--pins", `${cwd}/data/sig/pins.db`, "--log", "off"],
  ]);
  try {
    for (let i = 0; i < QUESTIONS; i++) {
      const response = await fetch(new URL("/v1/check", api.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          issuer: did,
          subject: SUBJECT,
          require: ["role=deploy"],
        }),
      });
      const { decision } = await response.json();
      if (decision !== "allow") throw new Error(`not allowed: ${decision}`);
    }
    return await memoryOf(api.pid, "VmHWM");
  } finally {
    await api.stop();
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const cwd = await Deno.makeTempDir();
const large = await serve(cwd, "large", EVENTS);
const small = await serve(cwd, "small", 5);
try {
  console.log(`${EVENTS} events about ${RELATIONSHIPS} relationships`);
  const plain = await check(cwd, large.host, "--no-pin");
  console.log(
    `check without a memory  ${seconds(plain.ms)}, ${plain.peak} MiB at most`,
  );
  const first = await check(cwd, large.host);
  console.log(
    `first look, and stored  ${seconds(first.ms)}, ${first.peak} MiB at most ` +
      "(goal: 256)",
  );
  const { size } = await Deno.stat(`${cwd}/data/sig/pins.db`);
  console.log(`the memory's file       ${Math.round(size / 2 ** 20)} MiB`);
  await check(cwd, small.host);
  const times: (readonly [number, number])[] = [];
  for (let i = 0; i < PAIRS; i++) {
    const isEven = i % 2 === 0;
    const one = await check(cwd, isEven ? large.host : small.host);
    const other = await check(cwd, isEven ? small.host : large.host);
    times.push(isEven ? [one.ms, other.ms] : [other.ms, one.ms]);
  }
  const of = (index: 0 | 1) => Math.round(median(times.map((t) => t[index])));
  const ratio = median(times.map(([a, b]) => a / b)).toFixed(2);
  console.log(
    `a fresh check           ${of(0)} ms, of 5 events ${of(1)} ms: ` +
      `${ratio} × (goal: 2)`,
  );
  const most = await apiMemory(cwd, large);
  const least = await apiMemory(cwd, small);
  console.log(
    `an API that knows it    ${most} MiB, of 5 events ${least} MiB: ` +
      `${most - least} MiB more (goal: 64)`,
  );
} finally {
  await large.server.shutdown();
  await small.server.shutdown();
  await Deno.remove(cwd, { recursive: true });
}
