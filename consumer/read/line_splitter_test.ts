import { assertEquals } from "@std/assert";
import { LineSplitter } from "./line_splitter.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/**
 * Returns the lines as texts (`!` for one that is too long), and whether bytes
 * follow the last LF.
 */
function split(text: string, chunkBytes: number) {
  const splitter = new LineSplitter(8);
  const bytes = encode(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    // Uses the same memory for every chunk, as streams may do.
    const chunk = bytes.slice(at, at + chunkBytes);
    for (const line of splitter.push(chunk)) {
      lines.push(line.tooLong ? "!" : new TextDecoder().decode(line.bytes));
    }
    chunk.fill(0x58);
  }
  return { lines, hasRest: splitter.hasRest };
}

Deno.test("chunks of any size give the same lines", () => {
  const text = "one\n\ntwo\r\n12345678\n123456789\nlast one too long\né\nrest";
  for (let size = 1; size <= text.length + 2; size++) {
    assertEquals(split(text, size), {
      lines: ["one", "", "two\r", "12345678", "!", "!", "é"],
      hasRest: true,
    }, `chunks of ${size}`);
  }
});

Deno.test("no bytes remain after a final LF", () => {
  for (const size of [1, 2, 100]) {
    assertEquals(split("a\n", size).hasRest, false);
    assertEquals(split("", size).hasRest, false);
    assertEquals(split("a", size).hasRest, true);
  }
});

Deno.test("a line that is too long is reported before it ends", () => {
  const splitter = new LineSplitter(8);
  assertEquals([...splitter.push(encode("12345678"))].length, 0);
  const flags = [...splitter.push(encode("9"))].map(({ tooLong }) => tooLong);
  assertEquals(flags, [true]);
  // It is reported only once, and leaves no incomplete line.
  assertEquals([...splitter.push(encode("0".repeat(100)))], []);
  assertEquals(splitter.hasRest, false);
  const [next] = [...splitter.push(encode("x\nok\n"))];
  assertEquals(next && new TextDecoder().decode(next.bytes), "ok");
});

Deno.test("lines are created one at a time, however many a chunk contains", () => {
  const chunk = encode("a\nb\n");
  const lines = new LineSplitter(8).push(chunk);
  assertEquals(lines.next().value?.bytes, encode("a"));
  chunk.set(encode("c"), 2);
  assertEquals(lines.next().value?.bytes, encode("c"));
});
