/** A new issuer publishes the documents of `vectors/feed`, byte for byte. */

import type { PrivateJwk } from "@sig/core";
import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";

const VECTORS = new URL("../vectors/", import.meta.url);

function readText(path: string): string {
  return Deno.readTextFileSync(new URL(path, VECTORS));
}

function testKey(index: number): PrivateJwk {
  return JSON.parse(readText("keys.json")).keys[index].jwk;
}

/** An issuer with the first test key; rotated to the second on request. */
async function publish(rotate: boolean): Promise<Map<string, string>> {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await keys.write({ host: "acme.example", kid: "orgsign-1" }, testKey(0));
  const did = "did:web:acme.example";
  const { keyReused } = await initIssuer({ store, keys, did });
  assert(keyReused);
  await using issuer = await openIssuer({
    store,
    keys,
    now: () => new Date(0),
  });
  if (rotate) await issuer.rotateKey({ kid: "orgsign-2", key: testKey(1) });
  return new Map(
    Array.from(store.files, ([path, bytes]) => [
      path,
      new TextDecoder().decode(bytes),
    ]),
  );
}

function readCase(name: string): Map<string, string> {
  const paths = ["did.json", "jwks.json", "sig.json", "sig/events.jsonl"];
  return new Map(paths.map((path) => [
    `/.well-known/${path}`,
    readText(`feed/${name}/.well-known/${path}`),
  ]));
}

Deno.test("a new issuer's four files are those of the vector feed-empty", async () => {
  assertEquals(await publish(false), readCase("feed-empty"));
});

Deno.test("after a rotation its documents are those of key-rotation", async () => {
  const expected = readCase("key-rotation");
  expected.set("/.well-known/sig/events.jsonl", "");
  assertEquals(await publish(true), expected);
});
