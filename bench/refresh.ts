/**
 * Goal 3. A check in a running process after 10 new events, compared with the
 * cold verification of the feed by the same process (at most 1/1000 with
 * 100,000 events, so 1/200 with 20,000). The issuer is a separate process.
 * Argument: events.
 *
 * @module
 */

import { createConsumer } from "@sig/consumer";
import { median } from "./pairs.ts";
import { startServer } from "./servers/start.ts";

const EVENTS = Number(Deno.args[0] ?? "20000");
const TIMES = 30;

const issuer = await startServer("bench/servers/issuer.ts", [
  ...[`${EVENTS}`, `${TIMES}`],
]);
try {
  const did = `did:web:${issuer.url.host.replace(":", "%3A")}`;
  const consumer = createConsumer({ issuers: [did], allowPrivate: true });
  const start = performance.now();
  await consumer.verify(did);
  const coldMs = performance.now() - start;
  const times: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    await (await fetch(new URL("/more", issuer.url))).body?.cancel();
    const start = performance.now();
    const { decision } = await consumer.check(did, {
      subject: "did:web:person-7.example",
      require: ["role=deploy"],
      maxAgeMs: 0,
    });
    times.push(performance.now() - start);
    if (decision !== "allow") throw new Error("not allowed");
  }
  console.log(
    `${EVENTS} events verified in ${
      coldMs.toFixed(0)
    } ms, check after 10 more in ${median(times).toFixed(1)} ms: 1/${
      (coldMs / median(times)).toFixed(0)
    } ` +
      `(goal: 1/${EVENTS / 100})`,
  );
} finally {
  await issuer.stop();
}
