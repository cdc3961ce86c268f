/**
 * Durable appends one by one, against a bare open, write, fdatasync, close of a
 * line of the same size, with 10 and with 100,000 events in the feed. Goals:
 * at least 60 % of the bare rate, and the same for both lengths (at most 1.2).
 * Run: `deno run -A bench/append.ts`
 *
 * @module
 */
import {
  createFileKeyStore,
  createFileStore,
  initIssuer,
  type Issuer,
  openIssuer,
  type UpsertDraft,
} from "@sig/issuer";
import { comparePairs } from "./pairs.ts";

const APPENDS = 50;
const PAIRS = 21;
const BATCH = 1_000;

function draft(i: number): UpsertDraft {
  return {
    event_type: "relationship.upsert",
    subject: `did:web:person-${i}.example`,
    relationship_type: "employee",
    roles: ["deploy", "review"],
    display: { title: "Site reliability engineer", department: "Platform" },
  };
}

async function issuerWith(events: number, dir: string): Promise<Issuer> {
  const store = createFileStore(`${dir}/issuer`);
  const keys = createFileKeyStore(`${dir}/keys`);
  await initIssuer({ store, keys, did: "did:web:acme.example" });
  const issuer = await openIssuer({ store, keys, now: () => new Date() });
  for (let i = 0; i < events; i += BATCH) {
    const size = Math.min(BATCH, events - i);
    await issuer.appendAll(
      Array.from({ length: size }, (_, j) => draft(i + j)),
    );
  }
  return issuer;
}

async function bareAppend(path: string, line: Uint8Array): Promise<void> {
  const file = await Deno.open(path, { append: true, create: true });
  await file.write(line);
  await file.syncData();
  file.close();
}

async function measure(events: number, report = true): Promise<number> {
  const dir = await Deno.makeTempDir({ prefix: "sig-bench-" });
  const issuer = await issuerWith(events, dir);
  // What building the feed left to the kernel must not be paid for below.
  await new Deno.Command("sync").output();
  const feed = `${dir}/issuer/.well-known/sig/events.jsonl`;
  const bytes = await Deno.readFile(feed);
  const line = bytes.slice(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1);
  const { a, b, ratio } = await comparePairs(
    async () => {
      for (let i = 0; i < APPENDS; i++) await issuer.append(draft(i));
    },
    async () => {
      for (let i = 0; i < APPENDS; i++) await bareAppend(`${dir}/bare`, line);
    },
    PAIRS,
  );
  await issuer.close();
  await Deno.remove(dir, { recursive: true });
  const us = (ms: number) => `${(ms * 1000 / APPENDS).toFixed(0)} µs`;
  if (report) {
    console.log(
      `${events} events: append ${us(a)}, bare ${us(b)}: ` +
        `${(100 / ratio).toFixed(0)} % of the bare rate (goal: at least 60 %)`,
    );
  }
  return a;
}

await measure(10, false); // Warms up the compiler.
const short = await measure(10);
const long = await measure(100_000);
console.log(
  `100,000 against 10 events: ${(long / short).toFixed(2)} (goal: at most 1.2)`,
);
