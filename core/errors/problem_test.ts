import { assert, assertEquals } from "@std/assert";
import { isSigError, SigError } from "./error.ts";
import { toProblem } from "./problem.ts";

Deno.test("the context of a SigError becomes top-level members", () => {
  const errors = [{
    pointer: "/a",
    code: "missing_field",
    detail: "is required",
  }] as const;
  const error = new SigError("sequence_gap", {
    action: "verify feed",
    reason: "4 to 6",
    context: { line: 5, sequence: 6, errors },
  });
  assertEquals(toProblem(error), {
    type: "urn:sig:problem:sequence_gap",
    title: "Sequence gap",
    status: 422,
    detail: "Cannot verify feed: 4 to 6",
    code: "sequence_gap",
    line: 5,
    sequence: 6,
    errors,
  });
});

Deno.test("a context can't replace a standard member", () => {
  const error = new SigError("key_not_found", {
    reason: "Cannot verify",
    context: { status: 200, type: "x", code: "x", detail: "x", title: "x" },
  });
  const { status, type, code, detail, title } = toProblem(error);
  assertEquals([status, type, code, detail, title], [
    422,
    "urn:sig:problem:key_not_found",
    "key_not_found",
    "Cannot verify",
    "Key not found",
  ]);
});

Deno.test("the message of any other error or of a cause is never exposed", () => {
  const secret = "hunter2";
  const others: unknown[] = [
    new TypeError(secret),
    secret,
    { code: "key_not_found", message: secret },
    null,
    Object.assign(new Error(secret), { name: "SigError", code: "toString" }),
  ];
  for (const other of others) {
    assertEquals(toProblem(other), {
      type: "urn:sig:problem:internal",
      title: "Internal",
      status: 500,
      detail: "Cannot go on: an internal error occurred",
      code: "internal",
    });
  }
  const cause = new Error(secret);
  const error = new SigError("fetch_failed", { reason: "Cannot fetch", cause });
  assert(!JSON.stringify(toProblem(error)).includes(secret));
});

Deno.test("an error of another version with an unknown code is internal", () => {
  const foreign = Object.assign(new Error("secret"), {
    ...{ name: "SigError", code: "code_of_later", context: {} },
  });
  assert(isSigError(foreign));
  assertEquals(toProblem(foreign).code, "internal");
});
