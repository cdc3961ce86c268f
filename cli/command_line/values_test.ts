import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import {
  asOf,
  asOfThrough,
  dayOf,
  time,
  timestamp,
  timestampThrough,
} from "./values.ts";

Deno.test("a bare date is the start of its day, or its end for a validity's end", () => {
  const day = "2024-02-29";
  const start = `${day}T00:00:00Z`;
  const end = `${day}T23:59:59.999999999Z`;
  const read = (parsed: string | number | { readonly text: string }) =>
    typeof parsed === "object" ? parsed.text : parsed;
  assertEquals(read(timestamp.parse(day, "--at")), start);
  assertEquals(read(timestampThrough.parse(day, "--to")), end);
  assertEquals(read(asOf.parse(day, "--as-of")), start);
  assertEquals(read(asOfThrough.parse(day, "--to")), end);
  assertEquals(time.parse(day, "--effective-at"), start);
  assertEquals(dayOf("valid_from").parse(day, "--valid-from"), start);
  // The end of a validity is exclusive, so the next midnight includes the whole
  // day.
  assertEquals(
    dayOf("valid_until").parse(day, "--valid-until"),
    "2024-03-01T00:00:00Z",
  );
});

Deno.test("other text than a bare date stays unchanged or is rejected with its flag", () => {
  const instant = "2026-01-31T09:00:00.5Z";
  assertEquals(timestampThrough.parse(instant, "--to").text, instant);
  assertEquals(asOfThrough.parse("20260131", "--to"), 20260131);
  // The issuer validates values of its events.
  assertEquals(time.parse("31.1.2026", "--effective-at"), "31.1.2026");
  for (const wrong of ["2026-02-30", "2026-1-31", "31.1.2026", "today", ""]) {
    const context = {
      flag: "--at",
      hint: "For example: 2026-01-31T09:00:00Z, 2026-01-31.",
    };
    const error = assertSigError(
      () => timestamp.parse(wrong, "--at"),
      "invalid_request",
      "Cannot run: --at must be an RFC 3339 UTC timestamp or a date",
    );
    assertEquals(error.context, context);
    const known = assertSigError(
      () => asOf.parse(wrong, "--at"),
      "invalid_request",
      "Cannot run: --at must be a sequence, an RFC 3339 UTC timestamp or a date",
    );
    assertEquals(known.context, context);
  }
});
