import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { parseDuration } from "./duration.ts";

Deno.test("a duration is a number with its unit, in milliseconds", () => {
  const good: readonly (readonly [string, number])[] = [
    ["0s", 0],
    ["250ms", 250],
    ["90s", 90_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    ["007s", 7_000],
  ];
  for (const [text, ms] of good) {
    assertEquals(parseDuration("--max-age", text), ms);
  }
  assertEquals(parseDuration("--max-age", undefined), undefined);
});

Deno.test("any other duration is refused with its flag", () => {
  const bad = ["", "5", "m", "5 m", "-5m", "+5m", "1.5h", "1e3s", "5M", "5w"];
  for (const text of [...bad, "1h30m", "5m\n", "٥m", `${"9".repeat(10)}d`]) {
    const { context } = assertSigError(
      () => parseDuration("--max-age", text),
      "invalid_request",
      "Cannot run: --max-age must be a number with ms, s, m, h or d",
    );
    assertEquals(context.flag, "--max-age");
  }
});
