/**
 * A check in a running process after 10 new events, against verifying the whole
 * feed; and the cost of a check that needs no refresh. Goal: at most 1/1000 with
 * 100,000 events, so 1/200 with 20,000.
 *
 * Told in two ways. First as it comes: a process verifies the feed, and then
 * checks one time after the other. Then in turns with a process that looks at
 * the feed from nothing on all cores: each check finds the processor's caches
 * full of somebody else's work, and both have asked often before, since code
 * that ran a few times only is not compiled yet. The issuer is a process of its
 * own, as it is in life. Run: `deno run -A bench/refresh.ts [EVENTS]`
 *
 * @module
 */
import { check } from "@sig/core";
import { createConsumer } from "@sig/consumer";
import { median, processorMs } from "./pairs.ts";
import { startServer } from "./servers/start.ts";

const EVENTS = Number(Deno.args[0] ?? "20000");
const NEW_EVENTS = 10;
const WARM_UP = 50;
const PAIRS = 15;
const CHECKS = 20_000;
const QUESTION = {
  subject: "did:web:person-7.example",
  require: ["role=deploy"],
} as const;

const server = await startServer("bench/servers/growing_issuer.ts", [
  String(EVENTS),
  String(PAIRS + WARM_UP + PAIRS),
]);
const did = `did:web:${server.url.host.replace(":", "%3A")}`;
const cold = await startServer("bench/servers/cold_asker.ts", [did], {
  isEverywhere: true,
});
try {
  const running = createConsumer({ issuers: [did], allowPrivate: true });
  const beforeFirst = performance.now();
  await running.verify(did);
  const first = performance.now() - beforeFirst;

  const more = new URL("/more", server.url);
  const askOfMore = async () => {
    await (await fetch(more, { method: "POST" })).body?.cancel();
    const start = performance.now();
    const used = processorMs();
    const { decision } = await running.check(did, {
      ...QUESTION,
      maxAgeSeconds: 0,
    });
    if (decision !== "allow") throw new Error("not allowed");
    const wall = performance.now() - start;
    return { wall, processor: processorMs() - used };
  };
  const askFromNothing = async () =>
    Number(await (await fetch(cold.url)).text());

  const next: number[] = [];
  for (let i = 0; i < PAIRS; i++) next.push((await askOfMore()).wall);
  console.log(`feed of ${EVENTS} events and more`);
  console.log(
    `check after ${NEW_EVENTS} new events  ${median(next).toFixed(1)} ms, ` +
      `verified by the process before in ${first.toFixed(0)} ms: ` +
      `1/${(first / median(next)).toFixed(0)}`,
  );

  await askFromNothing();
  for (let i = 0; i < WARM_UP; i++) await askOfMore();
  const pairs: { wall: number; processor: number; whole: number }[] = [];
  for (let i = 0; i < PAIRS; i++) {
    const whole = await askFromNothing();
    pairs.push({ ...await askOfMore(), whole });
  }
  const of = (name: "wall" | "processor" | "whole") =>
    median(pairs.map((pair) => pair[name]));
  const ratio = median(pairs.map(({ wall, whole }) => whole / wall));
  console.log(
    `in turns with looks from nothing ${of("wall").toFixed(1)} ms, ` +
      `processor time ${of("processor").toFixed(1)} ms, against ${
        of("whole").toFixed(0)
      } ms: 1/${ratio.toFixed(0)}`,
  );

  const { state } = await running.verify(did);
  const now = () => ({ ...QUESTION, now: new Date() });
  const extra: number[] = [];
  for (let i = 0; i < 15; i++) {
    const start = performance.now();
    for (let n = 0; n < CHECKS; n++) check(state, now());
    const middle = performance.now();
    for (let n = 0; n < CHECKS; n++) await running.check(did, QUESTION);
    const end = performance.now();
    extra.push((end - middle - (middle - start)) * 1000 / CHECKS);
  }
  console.log(
    `known issuer, beyond core's check  ${median(extra).toFixed(2)} µs`,
  );
} finally {
  await server.stop();
  await cold.stop();
}
