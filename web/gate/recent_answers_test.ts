import { createMemoryStore } from "@sig/consumer/store";
import { SESSION } from "../store/kinds.ts";
import { assertEquals } from "@std/assert";
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

Deno.test("an answer is reused within its second, and a revocation takes effect within the max age", async () => {
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
  // The issuer's state is read again, 600 ms after a full second.
  provider.frozenMs = Math.ceil(Date.now() / 1_000) * 1_000 + 600;
  const statusAt = async (ms: number) => {
    provider.skewMs = MAX_AGE_MS + ms;
    return (await visitor.ask(WIKI)).status;
  };
  const readsAt = async (ms: number) => {
    const before = reads;
    assertEquals(await statusAt(ms), 200);
    return reads - before;
  };
  // The version of the session's record is read for each request.
  assertEquals([await readsAt(0), await readsAt(399)], [2, 1]);
  await provider.demo.revoke(relationship);
  assertEquals(await readsAt(400), 2);
  // An answer that is reused until 5,400 must not be of this age.
  assertEquals(await statusAt(4_900), 401);
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
