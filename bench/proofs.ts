/**
 * The cost of proofs for an issuer with 100,000 events: at most 10 ms and 12
 * further files for a single append, and 5 ms for each event in batches of 100.
 * Each append is timed together with the following update of the proofs.
 * Argument: the number of events, one for each subject.
 *
 * @module
 */

import { drafts, openFileIssuer } from "./feed.ts";
import { median } from "./pairs.ts";

const ROUNDS = 30;
const BATCH = 100;

const events = Number(Deno.args[0] ?? 100_000);
let people = events;
const written = new Set<string>();
await using made = await openFileIssuer(events, {
  faults: {
    onStep: (step) =>
      step.startsWith("renamed ") ? written.add(step) : undefined,
  },
});
const { issuer } = made;
const start = performance.now();
await issuer.checkpoint({ init: true });
const seconds = (performance.now() - start) / 1000;
console.log(`${events} events, first checkpoint: ${seconds.toFixed(1)} s`);
await new Deno.Command("sync").output();

/** Times appends and the updates that follow them. */
async function measure(what: string, count: number): Promise<void> {
  const [without, more, files]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const next = drafts(count, people);
    people += count;
    const begin = performance.now();
    await issuer.appendAll(next);
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
    `${what}: ${ms(without!)} per event, proofs ${ms(more!)} in addition, ` +
      `${median(files!)} files`,
  );
}

await measure("single append", 1);
await measure(`batch of ${BATCH}`, BATCH);
