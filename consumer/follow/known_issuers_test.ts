import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  type KnownIssuer,
  KnownIssuers,
  type KnownIssuersOptions,
} from "./known_issuers.ts";
import type { Copy } from "./reading.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

function knownIssuers(
  options: Partial<KnownIssuersOptions> = {},
): KnownIssuers {
  return new KnownIssuers({
    issuers: ["listed.example"],
    anyIssuer: true,
    policy: {},
    refresh: () => new Promise(() => {}),
    waiting: {
      now: () => new Date(0),
      limits: { maxWaiting: 10, maxWaitMs: 60_000 },
    },
    ...options,
  });
}

const MIB = 1024 * 1024;

/** Gives an issuer a verified state of this size in bytes. */
function verify(issuer: KnownIssuer, heldBytes = 1): void {
  issuer.copy = { heldBytes } as Copy;
}

Deno.test("DID, host and URL name the same issuer", () => {
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
  assertEquals(issuers.unlisted, 1);
});

Deno.test("keeps the 256 most recently used unlisted issuers", () => {
  const issuers = knownIssuers();
  const listed = issuers.find("listed.example");
  for (let i = 1; i <= 1_000; i++) verify(issuers.find(`i${i}.example`));
  assertEquals(issuers.unlisted, 256);
  const first = issuers.find("i745.example");
  for (let i = 1_001; i <= 1_255; i++) verify(issuers.find(`i${i}.example`));
  // A repeated question keeps an issuer; a listed issuer is always kept.
  assertStrictEquals(issuers.find("i745.example"), first);
  assertStrictEquals(issuers.find("listed.example"), listed);
  assertEquals(issuers.find("i746.example").copy, undefined);
});

Deno.test("an issuer without a state does not evict one with a state", () => {
  const issuers = knownIssuers();
  const good = issuers.find("good.example");
  verify(good);
  for (let i = 0; i < 1000; i++) issuers.find(`bad${i}.example`);
  assertStrictEquals(issuers.find("good.example"), good);
  assertEquals(issuers.unlisted, 256);
});

Deno.test("keeps at most 48 MiB of states of unlisted issuers", () => {
  const issuers = knownIssuers();
  for (let i = 1; i <= 10; i++) verify(issuers.find(`i${i}.example`), 16 * MIB);
  issuers.find("next.example");
  assertEquals(issuers.unlisted, 4);
  assertEquals(issuers.find("i7.example").copy, undefined);
  assertEquals(issuers.find("i10.example").heldBytes, 16 * MIB);
});

Deno.test("an issuer with a running refresh is not evicted", async () => {
  const issuers = knownIssuers();
  const busy = issuers.find("busy.example");
  const stop = new AbortController();
  const asked = busy.refreshes.run(false, stop.signal).catch(() => {});
  for (let i = 0; i < 300; i++) verify(issuers.find(`i${i}.example`));
  assertStrictEquals(issuers.find("busy.example"), busy);
  stop.abort();
  await asked;
});

Deno.test("an unlisted issuer is read only at its host's own sig.json", async () => {
  const issuers = knownIssuers();
  const issuer = issuers.find("other.example");
  const usual = "https://other.example/.well-known/sig.json";
  // A fragment is never sent, and URLs are compared after normalization.
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
      "is read only at its host's own sig.json",
    );
    assertEquals(error.context.hint, `Ask for ${usual}`);
  }
  assertEquals(issuers.unlisted, 1);
});

Deno.test("an unlisted issuer is read over http or https, not both", async () => {
  const issuers = knownIssuers({ policy: { allowPrivate: true } });
  const [http, https] = ["http", "https"].map((scheme) =>
    `${scheme}://other.example:8443/.well-known/sig.json`
  ) as [string, string];
  issuers.find(http);
  const error = await expectSigError(
    () => issuers.find(https),
    "invalid_identifier",
    "the same issuer is already read at another URL",
  );
  assertEquals(error.context.hint, `Ask for ${http}`);
});

Deno.test("a listed issuer is read at its URL on the list", async () => {
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

Deno.test("rejects two URLs of one issuer on the list", async () => {
  const error = await expectSigError(
    () =>
      knownIssuers({
        issuers: ["acme.example", "https://acme.example/sig.json"],
      }),
    "invalid_identifier",
    "the same issuer is already read at another URL",
  );
  assertEquals(error.context.identifier, "https://acme.example/sig.json");
});
