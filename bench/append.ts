/**
 * Goal 4. Durable appends, single and in batches of 100, compared with a bare
 * open, write, fdatasync, close of one line (at least 60 % and 2.5 × of its
 * rate), with 10 and with 100,000 events in the feed (the same rate). Argument:
 * the larger number.
 *
 * @module
 */

import { drafts, openFileIssuer } from "./feed.ts";
import { comparePairs } from "./pairs.ts";

const APPENDS = 50;
const BATCH = 100;
const APPEND = { append: true, create: true };

async function measure(events: number): Promise<number> {
  await using made = await openFileIssuer(events);
  const { dir, issuer } = made;
  // Flushes what building the feed left to the kernel, so that it is not timed
  // below.
  await new Deno.Command("sync").output();
  const feed = `${dir}/issuer/.well-known/sig/events.jsonl`;
  const bytes = await Deno.readFile(feed);
  const line = bytes.slice(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1);
  const bare = async () => {
    for (let i = 0; i < APPENDS; i++) {
      const file = await Deno.open(`${dir}/bare`, APPEND);
      await file.write(line);
      await file.syncData();
      file.close();
    }
  };
  const one = await comparePairs(async () => {
    for (const draft of drafts(APPENDS)) await issuer.append(draft);
  }, bare);
  const batch = await comparePairs(() => issuer.appendAll(drafts(BATCH)), bare);
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
console.log(
  `long compared with short feed: ${(long / short).toFixed(2)} (goal: 1)`,
);
