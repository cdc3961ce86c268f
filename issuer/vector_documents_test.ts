/** A new issuer publishes the documents of the vectors, byte for byte. */

import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import { readFeedVector, readTestKeys } from "../tests/kit/vectors.ts";

/** An issuer with the first test key; rotated to the second on request. */
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
  return new Map(
    Array.from(store.files, ([path, bytes]) => [
      path,
      new TextDecoder().decode(bytes),
    ]),
  );
}

function readCase(name: string): Map<string, string> {
  const { documents } = readFeedVector(name);
  return new Map(
    Array.from(documents, ([path, bytes]) => [
      `/${path}`,
      new TextDecoder().decode(bytes),
    ]),
  );
}

Deno.test("a new issuer's four files are those of the vector feed-empty", async () => {
  assertEquals(await publish(false), readCase("feed-empty"));
});

Deno.test("after a rotation its documents are those of key-rotation", async () => {
  const expected = readCase("key-rotation");
  expected.set("/.well-known/sig/events.jsonl", "");
  assertEquals(await publish(true), expected);
});
