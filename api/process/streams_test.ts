import { assertEquals } from "@std/assert";
import { readVariable } from "./io.ts";

const NAME = "SIG_TEST_READ_VARIABLE";

function given<T>(value: string, read: () => T): T {
  Deno.env.set(NAME, value);
  try {
    return read();
  } finally {
    Deno.env.delete(NAME);
  }
}

Deno.test("an empty variable counts as unset", () => {
  assertEquals(readVariable(NAME), undefined);
  assertEquals(given("", () => readVariable(NAME)), undefined);
  assertEquals(given("a b", () => readVariable(NAME)), "a b");
});

Deno.test({
  name: "a variable that may not be read counts as unset",
  permissions: { env: false },
  fn() {
    assertEquals(readVariable(NAME), undefined);
  },
});
