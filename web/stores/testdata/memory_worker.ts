/** Prints the bytes in use after each of four rounds of 50,000 challenges. */

import { createMemoryStore } from "../memory_store.ts";
import { recordOf } from "../store_contract.ts";

const START_MS = Date.parse("2026-01-31T09:00:00Z");
const store = createMemoryStore();
const used: number[] = [];
for (let round = 0; round < 4; round++) {
  const startMs = START_MS + round * 400_000;
  const expires_at = new Date(startMs + 300_000).toISOString();
  for (let i = 0; i < 50_000; i++) {
    const record = recordOf({ expires_at });
    await store.create(record, new Date(startMs));
    if (i % 2) await store.consume(record.challenge_id, new Date(startMs));
  }
  // One question, later, is enough to sweep.
  await store.read("A".repeat(32), new Date(startMs + 360_000));
  (globalThis as { gc?: () => void }).gc?.();
  used.push(Deno.memoryUsage().heapUsed);
}
console.log(JSON.stringify(used));
