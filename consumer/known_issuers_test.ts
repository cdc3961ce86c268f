import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { Refreshed } from "./issuer_record.ts";
import {
  DEFAULT_KEPT_ISSUERS,
  type KnownIssuer,
  KnownIssuers,
  type KnownIssuersOptions,
} from "./known_issuers.ts";
import { RefreshQueue } from "./refresh_queue.ts";
import { expectSigError } from "./testdata/expect_sig_error.ts";

function knownIssuers(
  options: Partial<KnownIssuersOptions> = {},
): KnownIssuers {
  return new KnownIssuers({
    issuers: ["listed.example"],
    anyIssuer: true,
    kept: DEFAULT_KEPT_ISSUERS,
    policy: {},
    ask: () => new RefreshQueue(() => new Promise(() => {}), () => new Date(0)),
    ...options,
  });
}

/** Makes an issuer one that was verified, with a feed of so many bytes. */
function verify({ record }: KnownIssuer, bytes = 1): void {
  const memory = { issuer: "did:web:x.example", sequence: 1, bytes };
  record.accept({
    memory,
    history: undefined,
    observation: {},
    documents: new Map(),
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

Deno.test("large feeds and large memories count for more", () => {
  const kept = {
    maxStates: 100,
    maxFeedBytes: 1000,
    maxMemories: 100,
    maxMemoryLength: 300,
  };
  const issuers = knownIssuers({ kept });
  for (let i = 0; i < 50; i++) verify(issuers.find(`i${i}.example`), 400);
  // Room is made before the next one is asked.
  assertEquals(issuers.size.states, 3);
  assert(issuers.size.memories > 0 && issuers.size.memories < 10);
});

Deno.test("an issuer that is being asked stays", () => {
  const kept = { ...DEFAULT_KEPT_ISSUERS, maxStates: 1 };
  const issuers = knownIssuers({ kept });
  const busy = issuers.find("busy.example");
  void busy.refreshes.next();
  for (let i = 0; i < 10; i++) verify(issuers.find(`i${i}.example`));
  assertStrictEquals(issuers.find("busy.example"), busy);
});
