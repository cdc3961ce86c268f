/** A new issuer publishes the documents of the vectors, byte for byte. */

import {
  buildDidDocument,
  buildJwks,
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { generateSigningKey } from "@sig/jose";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { readFeedVector, readTestKeys } from "../tests/kit/vectors.ts";

/**
 * Creates an issuer with the first test key; on request rotates to the second.
 */
async function publish(rotate: boolean): Promise<Map<string, string>> {
  const [first, second] = readTestKeys();
  assert(first && second);
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await keys.write({ host: "acme.example", kid: "orgsign-1" }, first);
  const did = "did:web:acme.example";
  const { keyReused } = await initIssuer({ store, keys, did });
  assert(keyReused);
  await using issuer = await openIssuer({
    store,
    keys,
    now: () => new Date(0),
  });
  if (rotate) await issuer.rotateKey({ kid: "orgsign-2", key: second });
  return textsOf(store.files);
}

const textsOf = (files: ReadonlyMap<string, Uint8Array>, root = "") =>
  new Map(
    Array.from(files, ([path, bytes]) => [
      root + path,
      new TextDecoder().decode(bytes),
    ]),
  );

const readCase = (name: string) => textsOf(readFeedVector(name).documents, "/");

Deno.test("a new issuer's four files equal those of the vector feed-empty", async () => {
  assertEquals(await publish(false), readCase("feed-empty"));
});

Deno.test("after a rotation its documents equal those of key-rotation", async () => {
  const expected = readCase("key-rotation");
  expected.set("/.well-known/sig/events.jsonl", "");
  assertEquals(await publish(true), expected);
});

Deno.test("does not publish a key without a kid", async () => {
  const { kid: _, ...key } = await generateSigningKey();
  for (
    const build of [
      () => buildJwks([key]),
      () => buildDidDocument("did:web:acme.example", [key]),
    ]
  ) assertThrows(build, TypeError, "must have a kid");
});
