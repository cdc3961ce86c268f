import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { Refreshed } from "./issuer_record.ts";
import {
  DEFAULT_KEPT_ISSUERS,
  type KnownIssuer,
  KnownIssuers,
  type KnownIssuersOptions,
} from "./known_issuers.ts";
import type { RefreshOutcome } from "./refresh_issuer.ts";
import { RefreshQueue } from "./refresh_queue.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

function knownIssuers(
  options: Partial<KnownIssuersOptions> = {},
): KnownIssuers {
  return new KnownIssuers({
    issuers: ["listed.example"],
    anyIssuer: true,
    kept: DEFAULT_KEPT_ISSUERS,
    policy: {},
    ask: () => silentQueue(),
    ...options,
  });
}

function silentQueue(): RefreshQueue<RefreshOutcome> {
  return new RefreshQueue<RefreshOutcome>(() => new Promise(() => {}), {
    now: () => new Date(0),
    // No timer is left behind: nobody waits for what never comes.
    limits: { maxWaiting: 10, maxWaitMs: 1 },
  });
}

const MIB = 1024 * 1024;

async function* stream(
  chunks: readonly Uint8Array[],
): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Makes an issuer one that was verified, with a feed of so many bytes. */
function verify({ record }: KnownIssuer, bytes = 1, documentBytes = 0): void {
  const memory = { issuer: "did:web:x.example", sequence: 1, bytes };
  record.accept({
    memory,
    reduced: memory,
    history: undefined,
    observation: {},
    documents: new Map([["jwks", { bytes: new Uint8Array(documentBytes) }]]),
  } as unknown as Refreshed);
}

Deno.test("one issuer by its DID, its host and its URL", () => {
  const issuers = knownIssuers();
  for (const host of ["listed.example", "other.example"]) {
    const first = issuers.find(host);
    for (
      const text of [
        `did:web:${host}`,
        host.toUpperCase(),
        `https://${host}/.well-known/sig.json`,
        host,
      ]
    ) assertStrictEquals(issuers.find(text), first, text);
  }
  assertEquals(issuers.size, { states: 1, memories: 0 });
});

Deno.test("only the list, unless any issuer may be asked", async () => {
  const issuers = knownIssuers({ anyIssuer: false });
  issuers.find("did:web:listed.example");
  const error = await expectSigError(
    () => issuers.find("other.example"),
    "issuer_not_allowed",
    "Cannot ask issuer",
  );
  assertEquals(error.context, { issuer: "other.example" });
});

Deno.test("of others 256 states and 10,000 memories are kept", () => {
  const issuers = knownIssuers();
  const listed = issuers.find("listed.example");
  for (let i = 1; i <= 11_000; i++) verify(issuers.find(`i${i}.example`));
  assertEquals(issuers.size, { states: 256, memories: 10_000 });
  assertStrictEquals(issuers.find("listed.example"), listed);
  // The least recently asked is forgotten, the next one is remembered.
  const memoryOf = (i: number) => issuers.find(`i${i}.example`).record.memory;
  assertEquals(memoryOf(1)?.sequence, undefined);
  assertEquals(memoryOf(2_000)?.sequence, 1);
  assertEquals(memoryOf(11_000)?.sequence, 1);
});

Deno.test("who was asked again stays longer", () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 2 };
  const issuers = knownIssuers({ kept });
  const [a, b] = [issuers.find("a.example"), issuers.find("b.example")];
  verify(a);
  verify(b);
  issuers.find("a.example");
  verify(issuers.find("c.example"));
  assertStrictEquals(issuers.find("a.example"), a);
  const again = issuers.find("b.example");
  assert(again !== b);
  assertEquals(again.record.memory, b.record.memory);
  assertEquals(again.record.answerable, undefined);
});

Deno.test("issuers of which nothing came displace nobody", () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 3 };
  const issuers = knownIssuers({ kept });
  const good = issuers.find("good.example");
  verify(good);
  for (let i = 0; i < 1000; i++) issuers.find(`bad${i}.example`);
  assertStrictEquals(issuers.find("good.example"), good);
  assert(issuers.size.states <= 3);
  assertEquals(issuers.size.memories, 0);
});

Deno.test("large feeds count for more", () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 100, maxFeedBytes: 1000 };
  const issuers = knownIssuers({ kept });
  for (let i = 0; i < 50; i++) verify(issuers.find(`i${i}.example`), 400);
  // Room is made before the next one is asked.
  assertEquals(issuers.size, { states: 3, memories: 47 });
});

Deno.test("documents count as well as feeds", () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxFeedBytes: 1000 };
  const issuers = knownIssuers({ kept });
  for (let i = 0; i < 50; i++) verify(issuers.find(`i${i}.example`), 1, 399);
  assertEquals(issuers.size.states, 3);
});

Deno.test("whoever makes up issuers pushes out no memory but their own", () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 2, maxMemories: 20 };
  const issuers = knownIssuers({ kept });
  const good = Array.from({ length: 10 }, (_, i) => `sig.good${i}.example`);
  for (const host of good) verify(issuers.find(host));
  for (let i = 0; i < 1000; i++) {
    verify(issuers.find(`i${i}.mallory.example`));
  }
  assertEquals(issuers.size, { states: 2, memories: 20 });
  for (const host of good) {
    assertEquals(issuers.find(host).record.memory?.sequence, 1, host);
  }
});

Deno.test("an issuer that is being asked stays", async () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 1 };
  const issuers = knownIssuers({ kept });
  const busy = issuers.find("busy.example");
  const asked = busy.refreshes.next().catch(() => {});
  for (let i = 0; i < 10; i++) verify(issuers.find(`i${i}.example`));
  assertStrictEquals(issuers.find("busy.example"), busy);
  await asked;
});

Deno.test("room is made while a feed is read, and when that is done", async () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxFeedBytes: 4 * MIB };
  const issuers = knownIssuers({ kept });
  for (let i = 0; i < 4; i++) verify(issuers.find(`i${i}.example`), MIB);
  const reading = issuers.find("reading.example");
  const asked = reading.refreshes.next().catch(() => {});
  assertEquals(issuers.size, { states: 5, memories: 0 });
  const feed = [new Uint8Array(MIB), new Uint8Array(MIB)];
  for await (const _ of reading.allowance!.follow(stream(feed), 0));
  assertEquals(reading.allowance!.bytes, 2 * MIB);
  assertEquals(issuers.size, { states: 3, memories: 2 });
  verify(reading, 4 * MIB);
  reading.allowance!.end();
  assertEquals(reading.allowance!.bytes, 0);
  assertEquals(issuers.size, { states: 1, memories: 4 });
  assertStrictEquals(issuers.find("reading.example"), reading);
  await asked;
});

Deno.test("known bytes that are compared take no room and no place", async () => {
  const places = { maxWorking: 0, maxWaiting: 0, maxWaitMs: 1 };
  const kept = { ...DEFAULT_KEPT_ISSUERS, places };
  const { allowance } = knownIssuers({ kept }).find("other.example");
  const feed = () => stream([new Uint8Array(MIB), new Uint8Array(1)]);
  for await (const _ of allowance!.follow(feed(), MIB));
  assertEquals(allowance!.bytes, 1);
  await expectSigError(
    async () => {
      for await (const _ of allowance!.follow(feed(), 0));
    },
    "overloaded",
    "too many large feeds are being read before this one",
  );
  allowance!.end();
});

Deno.test("an issuer of the list needs no allowance", () => {
  assertEquals(knownIssuers().find("listed.example").allowance, undefined);
});

Deno.test("an unlisted issuer is asked at its host's own sig.json only", async () => {
  const issuers = knownIssuers();
  const issuer = issuers.find("other.example");
  const usual = "https://other.example/.well-known/sig.json";
  // What is never sent, or means the same, is no other place.
  for (
    const url of [
      `${usual}#f`,
      `${usual}#`,
      "https://OTHER.example:443/x/../.well-known/./sig.json",
    ]
  ) assertStrictEquals(issuers.find(url), issuer, url);
  for (
    const url of [
      `${usual}?x=1`,
      `${usual}?`,
      `${usual}/`,
      "https://other.example/users/mallory/sig.json",
      "https://other.example/.well-known/%73ig.json",
      "https://other.example/",
    ]
  ) {
    const error = await expectSigError(
      () => issuers.find(url),
      "invalid_identifier",
      "is asked at its host's own sig.json only",
    );
    assertEquals(error.context.hint, `Ask for ${usual}`);
  }
  assertEquals(issuers.size, { states: 1, memories: 0 });
});

Deno.test("an unlisted issuer has one memory, by http and by https", async () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 1 };
  const issuers = knownIssuers({ kept, policy: { allowPrivate: true } });
  const [http, https] = ["http", "https"].map((scheme) =>
    `${scheme}://other.example:8443/.well-known/sig.json`
  ) as [string, string];
  const first = issuers.find(http);
  const error = await expectSigError(
    () => issuers.find(https),
    "invalid_identifier",
    "the same issuer is asked at another place already",
  );
  assertEquals(error.context.hint, `Ask for ${http}`);
  verify(first);
  issuers.find("displaces.example");
  const again = issuers.find(https);
  assertStrictEquals(again.record.memory, first.record.memory);
});

Deno.test("where a listed issuer publishes is the operator's choice", async () => {
  const place = "https://acme.example/sig/sig.json?v=1";
  for (const anyIssuer of [false, true]) {
    const issuers = knownIssuers({ issuers: [`${place}#f`], anyIssuer });
    const acme = issuers.find(place);
    assertEquals(acme.location.metadataRef, place);
    for (
      const name of [
        `${place}#g`,
        "acme.example",
        "did:web:acme.example",
        "https://acme.example/.well-known/sig.json",
      ]
    ) assertStrictEquals(issuers.find(name), acme, name);
    const other = "https://acme.example/users/mallory/sig.json";
    await expectSigError(
      () => issuers.find(other),
      anyIssuer ? "invalid_identifier" : "issuer_not_allowed",
      "Cannot ask issuer",
    );
  }
});

Deno.test("two places of one issuer on the list are refused", async () => {
  const error = await expectSigError(
    () =>
      knownIssuers({
        issuers: ["acme.example", "https://acme.example/sig.json"],
      }),
    "invalid_identifier",
    "the same issuer is asked at another place already",
  );
  assertEquals(error.context.identifier, "https://acme.example/sig.json");
});
