import { SigError } from "@sig/core";
import { createKeyResolver, type VerificationBackend } from "@sig/jose";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { policyOf } from "../../tests/kit/inline_vectors.ts";
import { DOCUMENT_PATHS, readFeedVectors } from "../../tests/kit/vectors.ts";
import {
  feedOf,
  lineOf,
  makeLines,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import {
  bothKeys,
  key1,
  key2,
  keys,
  stranger,
  verify,
} from "../testdata/verify_lines.ts";
import type { VerifyFeedOptions } from "./verified_feed.ts";

Deno.test("an unknown key makes the keys be asked for once more", async () => {
  const lines = [
    ...await makeLines(2, key1),
    await lineOf(upsert(3), key2),
    await lineOf(upsert(4), key2),
  ];
  let refreshes = 0;
  const refreshKeys = () => {
    refreshes++;
    return Promise.resolve(bothKeys);
  };
  const found = await verify(feedOf(lines), { refreshKeys });
  assertEquals(found.state.last_sequence, 4);
  assertEquals(refreshes, 1);
  assertEquals(found.keys, [
    { kid: "orgsign-1", events: 2, first_sequence: 1, last_sequence: 2 },
    { kid: "orgsign-2", events: 2, first_sequence: 3, last_sequence: 4 },
  ]);
});

Deno.test("a key that is newly authorised is found that way, too", async () => {
  const unauthorized = await createKeyResolver({ keys: [key1.publicJwk] }, {
    authorized: new Map(),
  });
  const feed = feedOf(await makeLines(1, key1));
  const refreshKeys = () => Promise.resolve(keys);
  const found = await verify(feed, { keys: unauthorized, refreshKeys });
  assertEquals(found.verifiedEvents, 1);
});

Deno.test("10,000 unknown keys make the keys be asked for once", async () => {
  const { payload, signature } = JSON.parse(await lineOf(upsert(1), key1));
  const lines = Array.from({ length: 10_000 }, (_, i) => {
    const header = { alg: "EdDSA", kid: `kid-${i}`, typ: "sig-event+jws" };
    const protectedHeader = btoa(JSON.stringify(header)).replace(/=+$/, "");
    return JSON.stringify({ protected: protectedHeader, payload, signature });
  });
  let refreshes = 0;
  const { faults } = await verify(feedOf(lines), {
    maxFaults: 20_000,
    refreshKeys: () => {
      refreshes++;
      return Promise.resolve(keys);
    },
  });
  assertEquals(refreshes, 1);
  assertEquals(faults.length, 10_000);
  assert(faults.every(({ code }) => code === "key_not_found"));
});

Deno.test("when the keys can't be asked for, there is no verdict", async () => {
  const feed = feedOf([await lineOf(upsert(1), key2)]);
  const unreachable = new SigError("fetch_timeout", "Cannot fetch: too slow");
  for (const maxFaults of [undefined, 100]) {
    const error = await verify(feed, {
      maxFaults,
      refreshKeys: () => Promise.reject(unreachable),
    }).then(() => undefined, (error) => error);
    assertStrictEquals(error, unreachable);
  }
});

async function outcome(
  feed: Uint8Array,
  jwks: unknown,
  backend: VerificationBackend,
  options: Partial<VerifyFeedOptions>,
) {
  const resolver = await createKeyResolver(jwks, { backend });
  const found = await verify(feed, {
    ...options,
    keys: resolver,
    maxFaults: 100,
    digest: true,
  });
  const { faults, state, ...rest } = found;
  return {
    ...rest,
    faults: faults.map(({ code, message, context }) => [
      code,
      message,
      context,
    ]),
    state: [...state.by_relationship_id],
  };
}

Deno.test("both verifiers of the platform give the same for every vector", async () => {
  let compared = 0;
  for (const vector of readFeedVectors()) {
    const feed = vector.documents.get(DOCUMENT_PATHS.feed);
    const text = vector.documents.get(DOCUMENT_PATHS.jwks);
    if (feed === undefined || text === undefined) continue;
    let jwks: unknown;
    try {
      jwks = JSON.parse(new TextDecoder().decode(text));
      await createKeyResolver(jwks);
    } catch {
      continue; // a faulty key set: not what this is about
    }
    const options = { ...policyOf(vector), publicOnly: false };
    assertEquals(
      await outcome(feed, jwks, "web", options),
      await outcome(feed, jwks, "node", options),
      vector.name,
    );
    compared++;
  }
  assert(compared > 200, `${compared} feeds`);
});

Deno.test("a change from one verifier to the other goes unnoticed", async () => {
  // `auto` begins with the one and goes over to the other after 256 lines.
  const lines = await makeLines(300, key1);
  lines[279] = await lineOf(upsert(280), stranger);
  const jwks = { keys: [key1.publicJwk] };
  const found = await outcome(feedOf(lines), jwks, "auto", {});
  assertEquals(found.verifiedEvents, 299);
  assertEquals(found.faults.map(([code]) => code), ["signature_invalid"]);
  const web = await outcome(feedOf(lines), jwks, "web", {});
  assertEquals(found, web);
});
