import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { StringNumbers } from "./string_numbers.ts";

Deno.test("property: strings have the numbers that a Map gives them", () => {
  // Beginnings of each other, which follow each other in a block, and many
  // enough for several blocks.
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 }),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  const texts = fc.array(text, { maxLength: 1_000, size: "max" });
  fc.assert(
    fc.property(texts, fc.boolean(), (texts, isBad) => {
      const badHash = (text: string) => text.length % 4;
      const numbers = new StringNumbers(isBad ? badHash : undefined);
      const expected = new Map<string, number>();
      for (const each of texts) {
        assertEquals(numbers.find(each), expected.get(each) ?? -1);
        const number = expected.get(each) ?? expected.size;
        expected.set(each, number);
        assertEquals(numbers.add(each), number);
      }
      assertEquals(numbers.size, expected.size);
      for (const [each, number] of expected) {
        assertEquals(numbers.find(each), number);
        assertEquals(numbers.find(`${each}c`), -1);
      }
    }),
    { numRuns: 20 },
  );
});
