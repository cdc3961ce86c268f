import { createKeyResolver, type VerificationBackend } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import { policyOf } from "../../tests/kit/inline_vectors.ts";
import { DOCUMENT_PATHS, readFeedVectors } from "../../tests/kit/vectors.ts";
import {
  feedOf,
  lineOf,
  makeLines,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { key1, stranger, verify } from "../testdata/verify_lines.ts";
import type { VerifyFeedOptions } from "./verified_feed.ts";

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

Deno.test("both verifiers of the platform give the same result for every vector", async () => {
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
      continue; // a faulty key set is not the subject of this test
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

Deno.test("changing the verifier during a feed does not change the result", async () => {
  // `auto` starts with one verifier and changes to the other after 256 lines.
  const lines = await makeLines(300, key1);
  lines[279] = await lineOf(upsert(280), stranger);
  const jwks = { keys: [key1.publicJwk] };
  const found = await outcome(feedOf(lines), jwks, "auto", {});
  assertEquals(found.verifiedEvents, 299);
  assertEquals(found.faults.map(([code]) => code), ["signature_invalid"]);
  const web = await outcome(feedOf(lines), jwks, "web", {});
  assertEquals(found, web);
});
