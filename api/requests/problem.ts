/** What problems and warnings look like. @module */

import { ERROR_CODES, WARNING_CODES } from "@sig/core";
import { COUNT, exactly, listOf, TEXT, told, word } from "./answer_parts.ts";
import { Component } from "./schema.ts";

/** The codes of problems, faults and failed items. */
export const ERROR_CODE: Component = new Component("ErrorCode", {
  description: "Every code; none is ever renamed or used for another thing.",
  enum: Object.keys(ERROR_CODES),
});

/** An error as it is told. */
export const PROBLEM: Component = new Component("Problem", {
  type: "object",
  description:
    "An error (RFC 9457). `code` is stable; further members tell the place and circumstances.",
  properties: {
    type: told(TEXT, "`urn:sig:problem:<code>`."),
    title: told(TEXT, "The code in words."),
    status: told({ type: "integer" }, "The HTTP status."),
    detail: told(TEXT, "What went wrong, for people."),
    instance: told(TEXT, "The request's id."),
    code: ERROR_CODE,
    hint: told(TEXT, "What to do next."),
    pointer: told(TEXT, "JSON Pointer of the field."),
    line: told(COUNT, "Line of the feed."),
    sequence: told(COUNT, "Event of the feed."),
    kid: told(TEXT, "The key."),
    retry_after_seconds: told({ type: "number" }, "When to ask again."),
    errors: listOf(
      exactly("One fault.", {
        pointer: TEXT,
        code: ERROR_CODE,
        detail: TEXT,
      }),
      "All faults of the request.",
    ),
  },
  required: ["type", "title", "status", "detail", "instance", "code"],
  additionalProperties: true,
});

/** A warning. */
export const WARNING: Component = new Component(
  "Warning",
  exactly(
    "Something odd that makes no feed invalid.",
    { code: word(...WARNING_CODES), detail: TEXT },
    { sequence: COUNT, line: COUNT },
  ),
);
