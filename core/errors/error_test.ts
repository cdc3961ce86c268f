import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { isSigError, SigError, toProblem, withContext } from "./error.ts";
import { ERROR_CODES, type ErrorCode } from "./error_codes.ts";

Deno.test("a SigError has a code, category, context and cause", () => {
  const cause = new Error("below");
  const error = new SigError("key_not_found", {
    action: "verify",
    reason: "no such key",
    context: { kid: "k1" },
    cause,
  });
  assertEquals(
    [error.name, error.code, error.category, error.message],
    ["SigError", "key_not_found", "invalid", "Cannot verify: no such key"],
  );
  assertEquals(error.context, { kid: "k1" });
  assertStrictEquals(error.cause, cause);
  assert(!("cause" in new SigError("internal", { reason: "Cannot go on" })));
  assertEquals(
    new SigError("internal", { reason: "Cannot go on" }).context,
    {},
  );
});

Deno.test("isSigError accepts a SigError of another copy of the module", () => {
  const foreign = Object.assign(new Error("Cannot verify"), {
    name: "SigError",
    code: "key_not_found",
  });
  assert(isSigError(foreign));
  assert(isSigError(foreign, "key_not_found"));
  assert(!isSigError(foreign, "duplicate_kid"));
});

Deno.test("isSigError rejects any other value", () => {
  const named = (code: unknown) =>
    Object.assign(new Error(), { name: "SigError", code });
  const others = [
    undefined,
    null,
    "SigError",
    { name: "SigError", code: "internal" },
    new Error("x"),
    named("toString"),
    named("__proto__"),
    named(undefined),
    named(["internal"]),
    named("Not a code"),
  ];
  for (const other of others) assert(!isSigError(other), String(other));
});

Deno.test("the message is 'Cannot <action>: <reason>', or the reason alone", () => {
  const error = new SigError("internal", {
    action: "plan",
    reason: "row 3: x",
  });
  assertEquals(error.message, "Cannot plan: row 3: x");
  assertEquals([error.action, error.reason], ["plan", "row 3: x"]);
  const other = new SigError("internal", { reason: "The disk: full" });
  assertEquals(other.message, "The disk: full");
  assertEquals([other.action, other.reason], ["", "The disk: full"]);
});

Deno.test("withContext keeps the place nearest to the fault", () => {
  const cause = new Error("below");
  const inner = new SigError("invalid_field", {
    action: "accept event",
    reason: "/roles is empty",
    context: { sequence: 4, pointer: "/roles" },
    cause,
  });
  const outer = withContext(inner, { line: 4, sequence: 9 });
  assertEquals(outer.context, { line: 4, sequence: 4, pointer: "/roles" });
  assertEquals(
    [outer.code, outer.message, outer.action, outer.reason],
    [inner.code, inner.message, "accept event", "/roles is empty"],
  );
  assertStrictEquals(outer.cause, cause);
  assertEquals(inner.context, { sequence: 4, pointer: "/roles" });
});

Deno.test("isSigError accepts every code of the registry", () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    assert(
      isSigError(new SigError(code, { action: "x", reason: "y" }), code),
      code,
    );
  }
});

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
    // The unknown code of another version.
    ...["constructor", "code_of_later"].map((code) =>
      Object.assign(new Error(secret), { name: "SigError", code, context: {} })
    ),
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
