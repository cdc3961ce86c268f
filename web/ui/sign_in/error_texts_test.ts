import { assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
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

/** A code of each kind, with the heading of its refusal. */
const HEADINGS: readonly (readonly [ErrorCode, string, isOpen?: true])[] = [
  ["challenge_used", "This request was answered before", true],
  ["invalid_attestation", "This is not an answer to the request"],
  ["invalid_header", "Cannot go on: why"],
  ["fetch_timeout", "Acme.example does not answer", true],
  ["feed_too_large", "Acme.example does not answer", true],
  ["feed_rolled_back", "What acme.example publishes is not valid", true],
  ["invalid_metadata", "What acme.example publishes is not valid", true],
  ["line_too_long", "What acme.example publishes is not valid", true],
  ["unauthorized", "Cannot go on: why"],
];

Deno.test("nobody was refused if somebody does not answer, or time ran out", () => {
  for (const [code, title, isOpen] of HEADINGS) {
    const text = explainError(
      new Problem(code, "Cannot go on: why"),
      "acme.example",
    );
    assertEquals([text.title, text.isOpen || undefined], [title, isOpen], code);
  }
});
