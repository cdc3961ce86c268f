import { assertEquals } from "@std/assert";
import { Problem } from "../api.ts";
import { denyReasonText, explainError } from "./error_texts.ts";

Deno.test("a problem with an unknown code has the text of the server", () => {
  for (const code of ["of_another_version", "constructor"]) {
    const problem = new Problem(code, "Cannot go on: why", { hint: "Do so." });
    assertEquals(explainError(problem, "the issuer"), {
      title: "Cannot go on: why",
      next: "Do so.",
      canRetry: true,
    });
    assertEquals(denyReasonText(code), code);
  }
});
