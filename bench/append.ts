/**
 * Goal 4. Durable appends one by one and in batches of 100, against a bare open,
 * write, fdatasync, close of one line (at least 60 % and 2.5 × of its rate), with
 * 10 and with 100,000 events in the feed (the same). Argument: the larger number.
 *
 * @module
 */

import {
  createFileKeyStore,
  createFileStore,
  initIssuer,
  openIssuer,
  type UpsertDraft,
} from "@sig/issuer";
import { comparePairs } from "./pairs.ts";

const APPENDS = 50;
const BATCH = 100;

function drafts(count: number): UpsertDraft[] {
  return Array.from({ length: count }, (_, i) => ({
    event_type: "relationship.upsert",
    subject: `did:web:person-${i}.example`,
    relationship_type: "employee",
    roles: ["deploy", "review"],
    display: { title: "Site reliability engineer", department: "Platform" },
  }));
}

async function measure(events: number): Promise<number> {
  const dir = await Deno.makeTempDir({ prefix: "sig-bench-" });
  const store = createFileStore(`${dir}/issuer`);
  const keys = createFileKeyStore(`${dir}/keys`);
  await initIssuer({ store, keys, did: "did:web:acme.example" });
  const issuer = await openIssuer({ store, keys, now: () => new Date() });
  for (let i = 0; i < events; i += 1_000) {
    await issuer.appendAll(drafts(Math.min(1_000, events - i)));
  }
  // What building the feed left to the kernel must not be paid for below.
  await new Deno.Command("sync").output();
  const feed = `${dir}/issuer/.well-known/sig/events.jsonl`;
  const bytes = await Deno.readFile(feed);
  const line = bytes.slice(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1);
  const bare = async () => {
    for (let i = 0; i < APPENDS; i++) {
      const file = await Deno.open(`${dir}/bare`, {
        append: true,
        create: true,
      });
      await file.write(line);
      await file.syncData();
      file.close();
    }
  };
  const one = await comparePairs(async () => {
    for (const draft of drafts(APPENDS)) await issuer.append(draft);
  }, bare);
  const batch = await comparePairs(() => issuer.appendAll(drafts(BATCH)), bare);
  await issuer.close();
  await Deno.remove(dir, { recursive: true });
  const us = (ms: number) => `${(ms * 1000 / APPENDS).toFixed(0)} µs`;
  console.log(
    `${events} events: append ${us(one.a)}, bare ${us(one.b)}: ` +
      `${(100 / one.ratio).toFixed(0)} % of its rate (goal: at least 60 %); ` +
      `batches of ${BATCH}: ${(BATCH / APPENDS / batch.ratio).toFixed(1)} × ` +
      "its rate (goal: at least 2.5)",
  );
  return one.a;
}

const short = await measure(10);
const long = await measure(Number(Deno.args[0] ?? 100_000));
console.log(`long against short feed: ${(long / short).toFixed(2)} (goal: 1)`);
