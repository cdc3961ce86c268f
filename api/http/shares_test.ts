import { assert } from "@std/assert";
import { Shares } from "./shares.ts";

Deno.test("nobody takes more than their share, nor all more than there is", () => {
  const shares = new Shares({ total: 5, each: 3 });
  assert(shares.take("a", 3));
  assert(!shares.take("a"));
  assert(shares.take("b", 2));
  assert(!shares.take("c"));
  shares.giveBack("a");
  assert(shares.take("c"));
  assert(!shares.take("c"));
});

Deno.test("what can't be taken as a whole is not taken in part", () => {
  const shares = new Shares({ total: 5, each: 3 });
  assert(!shares.take("a", 4));
  assert(shares.take("a", 3));
  assert(!shares.take("b", 3));
  assert(shares.take("b", 2));
});
