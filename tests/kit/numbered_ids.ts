/** What whatever numbers identifiers must do, with many of them. @module */

import { assertEquals } from "@std/assert";

/** What numbers identifiers from 0. */
interface NumberedIds {
  indexOf(id: string): number;
  add(id: string): number;
}

/** Each of these is found under its number, and no other. */
export function assertFindsAll(
  all: NumberedIds & { readonly size: number },
  ids: Iterable<string>,
): void {
  const numbers = new Map<string, number>();
  for (const id of ids) {
    assertEquals(all.indexOf(id), -1, id.slice(0, 40));
    numbers.set(id, all.add(id));
  }
  assertEquals(all.size, numbers.size);
  let expected = 0;
  for (const [id, number] of numbers) {
    assertEquals(number, expected++);
    assertEquals(all.indexOf(id), number, id.slice(0, 40));
    assertEquals(all.indexOf(`${id}!`), -1);
  }
}

/** One that is added without being asked for is found, however the table grows. */
export function assertFindsUnasked(all: NumberedIds): void {
  for (let i = 0; i < 5_000; i++) {
    // Asked for another one, before and behind a growth of the table.
    if (i % 3 === 0) assertEquals(all.indexOf(`other-${i}`), -1);
    assertEquals(all.add(`event-${i}`), i);
    if (i % 5 === 0) assertEquals(all.indexOf(`event-${i >> 1}`), i >> 1);
  }
  for (let i = 0; i < 5_000; i++) assertEquals(all.indexOf(`event-${i}`), i);
  assertEquals(all.indexOf("other-0"), -1);
}
