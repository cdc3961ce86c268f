import { assert } from "@std/assert";
import { ERROR_CODES, type ErrorCode } from "./error_codes.ts";

Deno.test("the registry is frozen", () => {
  assert(Object.isFrozen(ERROR_CODES));
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    assert(Object.isFrozen(ERROR_CODES[code]), code);
  }
});
