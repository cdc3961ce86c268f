import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { FollowedIssuer } from "./followed_issuer.ts";
import { accept, answerable, type Refreshed } from "./issuer_record.ts";
import {
  DEFAULT_FOLLOW_LIMITS,
  FollowedIssuers,
  type FollowedIssuersOptions,
} from "./followed_issuers.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

function followedIssuers(
  options: Partial<FollowedIssuersOptions> = {},
): FollowedIssuers {
  return new FollowedIssuers({
    issuers: ["listed.example"],
    anyIssuer: true,
    limits: DEFAULT_FOLLOW_LIMITS,
    policy: {},
    refresh: () => new Promise(() => {}),
    queue: {
      now: () => new Date(0),
      // No timer is left behind: nobody waits for what never comes.
      limits: { maxWaiting: 10, maxWaitMs: 1 },
    },
    ...options,
  });
}

const MIB = 1024 * 1024;

async function* stream(
  chunks: readonly Uint8Array[],
): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Makes an issuer one that was verified, with a feed of so many bytes. */
function verify(issuer: FollowedIssuer, bytes = 1, documentBytes = 0): void {
  const pin = { issuer: "did:web:x.example", sequence: 1, bytes };
  const refreshed = {
    pin,
    reduced: pin,
    feed: undefined,
    observation: {},
    documents: new Map([["jwks", { bytes: new Uint8Array(documentBytes) }]]),
  } as unknown as Refreshed;
  issuer.keep(accept(issuer.record, refreshed));
}

Deno.test("one issuer by its DID, its host and its URL", () => {
  const issuers = followedIssuers();
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
  assertEquals(issuers.size, { states: 1, pins: 0 });
});

Deno.test("only the list, unless any issuer may be asked", async () => {
  const issuers = followedIssuers({ anyIssuer: false });
  issuers.find("did:web:listed.example");
  const error = await expectSigError(
    () => issuers.find("other.example"),
    "issuer_not_allowed",
    "Cannot ask issuer",
  );
  assertEquals(error.context, { issuer: "other.example" });
});

Deno.test("of others 256 states and 10,000 pins are kept", () => {
  const issuers = followedIssuers();
  const listed = issuers.find("listed.example");
  for (let i = 1; i <= 11_000; i++) verify(issuers.find(`i${i}.example`));
  assertEquals(issuers.size, { states: 256, pins: 10_000 });
  assertStrictEquals(issuers.find("listed.example"), listed);
  // The least recently asked is forgotten, the next one is remembered.
  const pinOf = (i: number) => issuers.find(`i${i}.example`).record.pin;
  assertEquals(pinOf(1)?.sequence, undefined);
  assertEquals(pinOf(2_000)?.sequence, 1);
  assertEquals(pinOf(11_000)?.sequence, 1);
});

Deno.test("who was asked again stays longer", () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxStates: 2 };
  const issuers = followedIssuers({ limits });
  const [a, b] = [issuers.find("a.example"), issuers.find("b.example")];
  verify(a);
  verify(b);
  issuers.find("a.example");
  verify(issuers.find("c.example"));
  assertStrictEquals(issuers.find("a.example"), a);
  const again = issuers.find("b.example");
  assert(again !== b);
  assertEquals(again.record.pin, b.record.pin);
  assertEquals(answerable(again.record), undefined);
});

Deno.test("issuers of which nothing came displace nobody", () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxStates: 3 };
  const issuers = followedIssuers({ limits });
  const good = issuers.find("good.example");
  verify(good);
  for (let i = 0; i < 1000; i++) issuers.find(`bad${i}.example`);
  assertStrictEquals(issuers.find("good.example"), good);
  assert(issuers.size.states <= 3);
  assertEquals(issuers.size.pins, 0);
});

Deno.test("large feeds count for more", () => {
  const limits = {
    ...DEFAULT_FOLLOW_LIMITS,
    maxStates: 100,
    maxFeedBytes: 1000,
  };
  const issuers = followedIssuers({ limits });
  for (let i = 0; i < 50; i++) verify(issuers.find(`i${i}.example`), 400);
  // Room is made before the next one is asked.
  assertEquals(issuers.size, { states: 3, pins: 47 });
});

Deno.test("documents count as well as feeds", () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxFeedBytes: 1000 };
  const issuers = followedIssuers({ limits });
  for (let i = 0; i < 50; i++) verify(issuers.find(`i${i}.example`), 1, 399);
  assertEquals(issuers.size.states, 3);
});

Deno.test("whoever makes up issuers pushes out no pin but their own", () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxStates: 2, maxPins: 20 };
  const issuers = followedIssuers({ limits });
  const good = Array.from({ length: 10 }, (_, i) => `sig.good${i}.example`);
  for (const host of good) verify(issuers.find(host));
  for (let i = 0; i < 1000; i++) {
    verify(issuers.find(`i${i}.mallory.example`));
  }
  assertEquals(issuers.size, { states: 2, pins: 20 });
  for (const host of good) {
    assertEquals(issuers.find(host).record.pin?.sequence, 1, host);
  }
});

Deno.test("an issuer that is being asked stays", async () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxStates: 1 };
  const issuers = followedIssuers({ limits });
  const busy = issuers.find("busy.example");
  const asked = busy.refreshes.next().catch(() => {});
  for (let i = 0; i < 10; i++) verify(issuers.find(`i${i}.example`));
  assertStrictEquals(issuers.find("busy.example"), busy);
  await asked;
});

Deno.test("room is made while a feed is read, and when that is done", async () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxFeedBytes: 4 * MIB };
  const issuers = followedIssuers({ limits });
  for (let i = 0; i < 4; i++) verify(issuers.find(`i${i}.example`), MIB);
  const reading = issuers.find("reading.example");
  const asked = reading.refreshes.next().catch(() => {});
  assertEquals(issuers.size, { states: 5, pins: 0 });
  const feed = [new Uint8Array(MIB), new Uint8Array(MIB)];
  for await (const _ of reading.allowance!.follow(stream(feed), 0));
  assertEquals(reading.allowance!.bytes, 2 * MIB);
  assertEquals(issuers.size, { states: 3, pins: 2 });
  verify(reading, 4 * MIB);
  reading.allowance!.end();
  assertEquals(reading.allowance!.bytes, 0);
  assertEquals(issuers.size, { states: 1, pins: 4 });
  assertStrictEquals(issuers.find("reading.example"), reading);
  await asked;
});

Deno.test("known bytes that are compared take no room and no place", async () => {
  const places = { maxWorking: 0, maxWaiting: 0, maxWaitMs: 1 };
  const limits = { ...DEFAULT_FOLLOW_LIMITS, places };
  const { allowance } = followedIssuers({ limits }).find("other.example");
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
  assertEquals(followedIssuers().find("listed.example").allowance, undefined);
});

Deno.test("an unlisted issuer is asked at its host's own sig.json only", async () => {
  const issuers = followedIssuers();
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
  assertEquals(issuers.size, { states: 1, pins: 0 });
});

Deno.test("an unlisted issuer has one pin, by http and by https", async () => {
  const limits = { ...DEFAULT_FOLLOW_LIMITS, maxStates: 1 };
  const issuers = followedIssuers({ limits, policy: { allowPrivate: true } });
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
  assertStrictEquals(again.record.pin, first.record.pin);
});

Deno.test("where a listed issuer publishes is the operator's choice", async () => {
  const place = "https://acme.example/sig/sig.json?v=1";
  for (const anyIssuer of [false, true]) {
    const issuers = followedIssuers({ issuers: [`${place}#f`], anyIssuer });
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
      followedIssuers({
        issuers: ["acme.example", "https://acme.example/sig.json"],
      }),
    "invalid_identifier",
    "the same issuer is asked at another place already",
  );
  assertEquals(error.context.identifier, "https://acme.example/sig.json");
});
