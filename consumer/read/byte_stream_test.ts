import { assertEquals } from "@std/assert";
import { ByteStream } from "./byte_stream.ts";

async function* chunks(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let next = 0;
  for (const size of sizes) {
    yield Uint8Array.from({ length: size }, () => next++);
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

Deno.test("a stream can be divided at any byte, whatever its chunks are", async () => {
  for (const sizes of [[10], [3, 3, 4], [0, 5, 0, 5], Array(10).fill(1)]) {
    for (let at = 0; at <= 10; at++) {
      const stream = new ByteStream(chunks(sizes));
      assertEquals([...await stream.take(at)], range(0, at));
      const rest: number[] = [];
      for await (const chunk of stream.rest()) rest.push(...chunk);
      assertEquals(rest, range(at, 10), `${sizes} at ${at}`);
    }
  }
});

Deno.test("a stream that ends early returns the bytes it has", async () => {
  const stream = new ByteStream(chunks([3, 2]));
  assertEquals([...await stream.take(9)], range(0, 5));
  assertEquals(await stream.next(), undefined);
  assertEquals((await stream.take(9)).length, 0);
});
