import { assert } from "@std/assert";
import { ERROR_CODES, type ErrorCode } from "./error_codes.ts";

Deno.test("the registry can't be changed by those who import it", () => {
  assert(Object.isFrozen(ERROR_CODES));
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    assert(Object.isFrozen(ERROR_CODES[code]), code);
  }
});
