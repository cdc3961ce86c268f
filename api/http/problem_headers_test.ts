import { assertEquals } from "@std/assert";
import {
  type ErrorCode,
  type ErrorContext,
  SigError,
  toProblem,
} from "@sig/core";
import { problemHeaders } from "./problem_headers.ts";

function headersOf(code: ErrorCode, context: ErrorContext = {}) {
  return problemHeaders(toProblem(new SigError(code, "Cannot", { context })));
}

Deno.test("a problem says in headers what its status asks for", () => {
  assertEquals(headersOf("unauthorized"), [["www-authenticate", "Bearer"]]);
  assertEquals(headersOf("rate_limited", { retry_after_seconds: 0.2 }), [
    ["retry-after", "1"],
  ]);
  assertEquals(headersOf("method_not_allowed", { allow: "GET, HEAD" }), [
    ["allow", "GET, HEAD"],
  ]);
  for (const code of ["request_timeout", "body_too_large"] as const) {
    assertEquals(headersOf(code), [["connection", "close"]]);
  }
  assertEquals(
    headersOf("not_found", { retry_after_seconds: "1", allow: 2 }),
    [],
  );
});
