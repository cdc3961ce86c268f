/**
 * What proofs cost an issuer, at 100,000 events: at most 10 ms and 12 files more
 * for a single append, and 5 ms an event for batches of 100. Each append is
 * timed beside the update of the proofs that follows it. Argument: the number of
 * events, one for each subject.
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
import { median } from "./pairs.ts";

const ROUNDS = 30;
const BATCH = 100;

let people = 0;
function drafts(count: number): UpsertDraft[] {
  return Array.from({ length: count }, () => ({
    event_type: "relationship.upsert",
    subject: `did:web:person-${people++}.example`,
    relationship_type: "employee",
    roles: ["deploy", "review"],
    display: { title: "Site reliability engineer", department: "Platform" },
  }));
}

const events = Number(Deno.args[0] ?? 100_000);
const dir = await Deno.makeTempDir({ prefix: "sig-bench-" });
const written = new Set<string>();
const store = createFileStore(`${dir}/issuer`, {
  faults: {
    onStep: (step) =>
      step.startsWith("renamed ") ? written.add(step) : undefined,
  },
});
const keys = createFileKeyStore(`${dir}/keys`);
await initIssuer({ store, keys, did: "did:web:acme.example" });
const issuer = await openIssuer({ store, keys, now: () => new Date() });
for (let i = 0; i < events; i += 1_000) {
  await issuer.appendAll(drafts(Math.min(1_000, events - i)));
}
const start = performance.now();
await issuer.checkpoint({ init: true });
const seconds = (performance.now() - start) / 1000;
console.log(`${events} events, first checkpoint: ${seconds.toFixed(1)} s`);
await new Deno.Command("sync").output();

/** Times appends and what follows them. */
async function measure(what: string, count: number): Promise<void> {
  const [without, more, files]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    await issuer.appendAll(drafts(count));
    const appended = performance.now();
    written.clear();
    const warnings = await issuer.refreshProofs();
    if (warnings.length > 0) throw new Error(warnings[0]!.detail);
    without!.push(appended - begin);
    more!.push(performance.now() - appended);
    files!.push(written.size);
  }
  const ms = (times: readonly number[]) =>
    `${(median(times) / count).toFixed(2)} ms`;
  console.log(
    `${what}: ${ms(without!)} an event, proofs ${ms(more!)} more, ` +
      `${median(files!)} files`,
  );
}

await measure("single append", 1);
await measure(`batch of ${BATCH}`, BATCH);
await issuer.close();
await Deno.remove(dir, { recursive: true });
