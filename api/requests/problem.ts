/** What problems and warnings look like. @module */

import { ERROR_CODES, WARNING_CODES } from "@sig/core";
import {
  COUNT,
  described,
  enumOf,
  listOf,
  strictObject,
  TEXT,
} from "./answer_parts.ts";
import { Component } from "./schema.ts";

/** The codes of problems, faults and failed items. */
export const ERROR_CODE: Component = new Component("ErrorCode", {
  description: "Every code; none is ever renamed or used for another thing.",
  enum: Object.keys(ERROR_CODES),
});

/** A problem as the answers show it. */
export const PROBLEM: Component = new Component("Problem", {
  type: "object",
  description:
    "An error (RFC 9457). `code` is stable; further members tell the place and circumstances.",
  properties: {
    type: described(TEXT, "`urn:sig:problem:<code>`."),
    title: described(TEXT, "The code in words."),
    status: described({ type: "integer" }, "The HTTP status."),
    detail: described(TEXT, "What went wrong, for people."),
    instance: described(TEXT, "The request's id."),
    code: ERROR_CODE,
    hint: described(TEXT, "What to do next."),
    pointer: described(TEXT, "JSON Pointer of the field."),
    line: described(COUNT, "Line of the feed."),
    sequence: described(COUNT, "Event of the feed."),
    kid: described(TEXT, "The key."),
    retry_after_seconds: described({ type: "number" }, "When to ask again."),
    errors: listOf(
      strictObject("One fault.", {
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
  strictObject(
    "Something odd that makes no feed invalid.",
    { code: enumOf(...WARNING_CODES), detail: TEXT },
    { sequence: COUNT, line: COUNT },
  ),
);
