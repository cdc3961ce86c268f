import { createMemoryStore } from "@sig/consumer/store";
import { SESSION } from "../store/kinds.ts";
import { assert, assertEquals } from "@std/assert";
import { TestProvider } from "../openid/testdata/test_provider.ts";
import { Visitor } from "./testdata/visitor.ts";

// promise: Forward auth reuses no answer for another cookie; it applies
//   revocations within the max age.

const WIKI = "wiki.example";
const OPS = "ops.example";
const PAGE = `http://${WIKI}/`;
const MAX_AGE_MS = 5_000;

function start(gateMaxAgeMs = MAX_AGE_MS, store = createMemoryStore()) {
  return TestProvider.start({
    ...{ clients: [], store },
    settings: { gateHosts: [WIKI, OPS], gateMaxAgeMs },
  });
}

Deno.test("a revocation takes effect within the max age, however frequent the requests", async () => {
  await using provider = await start();
  const { visitor, relationship } = await Visitor.logIn(provider, PAGE);
  provider.frozenMs = Date.now();
  assertEquals((await visitor.ask(WIKI)).status, 200);
  await provider.demo.revoke(relationship);
  let lastMs = 0;
  // The requests before the limit must not extend the age of the answer.
  for (const ms of [3_000, 3_900, 4_500, 4_890, 4_950, 5_000, 5_500, 5_900]) {
    provider.skewMs = ms;
    if ((await visitor.ask(WIKI)).status === 200) lastMs = ms;
  }
  assert(lastMs >= 3_000, "the issuer is asked each time");
  assert(lastMs < MAX_AGE_MS, `still there after ${lastMs} ms`);
});

Deno.test("an answer is reused within its second, and not later", async () => {
  const store = createMemoryStore();
  let reads = 0;
  await using provider = await start(MAX_AGE_MS, {
    ...store,
    get(...record) {
      reads++;
      return store.get(...record);
    },
  });
  const { visitor, relationship } = await Visitor.logIn(provider, PAGE);
  provider.frozenMs = Math.ceil(Date.now() / 1_000) * 1_000;
  const readsAt = async (skewMs: number) => {
    provider.skewMs = skewMs;
    const before = reads;
    assertEquals((await visitor.ask(WIKI)).status, 200);
    return reads - before;
  };
  // The version of the session's record is read for each request.
  assertEquals([await readsAt(0), await readsAt(999)], [2, 1]);
  assertEquals(await readsAt(1_000), 2);
  await provider.demo.revoke(relationship);
  provider.skewMs = MAX_AGE_MS;
  assertEquals((await visitor.ask(WIKI)).status, 401);
});

Deno.test("the end of a session takes effect immediately, however recent the answer", async () => {
  await using provider = await start();
  const { store, now } = provider;
  const { visitor, person } = await Visitor.logIn(provider, PAGE);
  assertEquals((await visitor.ask(WIKI)).status, 200);
  // Another process marks the session as ended before removing it.
  const [session] = (await store.list(SESSION, now())).records;
  const { id, text, expiresAtMs, version } = session!;
  const ended = JSON.stringify({ ...JSON.parse(text), ended_ms: 1 });
  await store.put(
    ...[SESSION, id, { text: ended, expiresAtMs }, version, now()] as const,
  );
  assertEquals((await visitor.ask(WIKI)).status, 401);

  await visitor.logIn(person, PAGE);
  assertEquals((await visitor.ask(WIKI)).status, 200);
  for (const { id } of (await store.list(SESSION, now())).records) {
    await store.take(SESSION, id, now());
  }
  assertEquals((await visitor.ask(WIKI)).status, 401);
});

Deno.test("a cached answer is only valid for its cookie and its host", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  assertEquals((await visitor.ask(WIKI)).status, 200);
  const cookie = visitor.at(WIKI).cookies.get("sig-gate")!;
  const thief = new Visitor(provider);
  const [sid] = cookie.split(".");
  thief.at(WIKI).cookies.set("sig-gate", `${sid}.${"A".repeat(43)}`);
  assertEquals((await thief.ask(WIKI)).status, 401);
  thief.at(OPS).cookies.set("sig-gate", cookie);
  assertEquals((await thief.ask(OPS)).status, 401);
});

Deno.test("a max age below two seconds disables the cache of answers", async () => {
  await using provider = await start(1_000);
  // A frozen clock keeps the duration of the login out of the answer's age.
  provider.frozenMs = Date.now();
  const { visitor, relationship } = await Visitor.logIn(provider, PAGE);
  provider.skewMs = 900;
  assertEquals((await visitor.ask(WIKI)).status, 200);
  await provider.demo.revoke(relationship);
  // The question before may have begun a refresh in the background.
  provider.skewMs = 2_000;
  assertEquals((await visitor.ask(WIKI)).status, 401);
});
