import { assertEquals } from "@std/assert";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();

Deno.test("progress tells how many bytes of how many of a feed were read", async () => {
  const told: (number | undefined)[][] = [];
  await using watched = await watchIssuer(300, key1, {
    onProgress: (...bytes) => told.push(bytes),
  });
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const length = server.documents.get(PATHS.feed)!.length;
  assertEquals(told.at(-1), [length, length]);
  assertEquals(new Set(told.map(([, total]) => total)), new Set([length]));
  // Of a tail, what is new of it.
  const line = await watched.line(301, key1);
  watched.publish([...lines, line]);
  const before = told.length;
  await consumer.verify(server.did);
  const [bytes, total] = told.at(-1)!;
  assertEquals([told.length > before, bytes], [true, total]);
});
