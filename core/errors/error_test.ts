import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { isSigError, SigError, withContext } from "./error.ts";
import { ERROR_CODES, type ErrorCode } from "./error_codes.ts";

Deno.test("a SigError has a code, category, context and cause", () => {
  const cause = new Error("below");
  const error = new SigError("key_not_found", "Cannot verify: no such key", {
    context: { kid: "k1" },
    cause,
  });
  assertEquals(
    [error.name, error.code, error.category, error.message],
    ["SigError", "key_not_found", "invalid", "Cannot verify: no such key"],
  );
  assertEquals(error.context, { kid: "k1" });
  assertStrictEquals(error.cause, cause);
  assert(!("cause" in new SigError("internal", "Cannot go on")));
  assertEquals(new SigError("internal", "Cannot go on").context, {});
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

Deno.test("an error splits its message into action and reason", () => {
  const cases: readonly [string, string, string][] = [
    ["Cannot verify: no such key", "verify", "no such key"],
    ["Cannot plan: row 3: it is twice", "plan", "row 3: it is twice"],
    // Quoted text may contain anything, and a DID contains colons.
    ['Cannot use "a\\": b": not a DID', 'use "a\\": b"', "not a DID"],
    ["Cannot use did:web:a.example: why", "use did:web:a.example", "why"],
    ["Cannot go on", "", "Cannot go on"],
    ['Cannot use "it: why', "", 'Cannot use "it: why'],
    ["The disk: full", "", "The disk: full"],
    ["", "", ""],
  ];
  for (const [message, action, reason] of cases) {
    const error = new SigError("internal", message);
    assertEquals(
      [error.message, error.action, error.reason],
      [message, action, reason],
    );
    const again = new SigError("not_found", error);
    assertEquals(
      [again.message, again.action, again.reason],
      [message, action, reason],
    );
  }
});

Deno.test("reporting an error under another action adds no second 'Cannot'", () => {
  const inner = new SigError("key_not_found", 'Cannot use "k: 1": it is gone');
  const { code, reason } = inner;
  const outer = new SigError(code, { action: "log in: really", reason });
  assertEquals(outer.message, "Cannot log in: really: it is gone");
  // A message in two parts is not split again.
  assertEquals(
    [outer.action, outer.reason],
    ["log in: really", "it is gone"],
  );
  assertEquals(withContext(outer, { line: 1 }).reason, "it is gone");
});

Deno.test("withContext keeps the place nearest to the fault", () => {
  const cause = new Error("below");
  const inner = new SigError("invalid_field", "Cannot accept event", {
    context: { sequence: 4, pointer: "/roles" },
    cause,
  });
  const outer = withContext(inner, { line: 4, sequence: 9 });
  assertEquals(outer.context, { line: 4, sequence: 4, pointer: "/roles" });
  assertEquals(
    { code: outer.code, message: outer.message },
    { code: inner.code, message: inner.message },
  );
  assertStrictEquals(outer.cause, cause);
  assertEquals(inner.context, { sequence: 4, pointer: "/roles" });
});

Deno.test("isSigError accepts every code of the registry", () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    assert(isSigError(new SigError(code, "Cannot x: y"), code), code);
  }
});
