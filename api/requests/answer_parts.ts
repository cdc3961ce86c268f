/** What schemas of answers are made of. @module */

import type { JsonValue } from "@sig/core";
import type { Component, JsonSchema } from "./schema.ts";

type Properties = { readonly [name: string]: JsonSchema | Component };

/** An object with exactly these members; those of `optional` may be absent. */
export function strictObject(
  description: string,
  properties: Properties,
  optional: Properties = {},
): JsonSchema {
  return {
    type: "object",
    description,
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** A list; its items say the rest. */
export function listOf(
  items: JsonSchema | Component,
  description = "",
): JsonSchema {
  return { type: "array", items, ...(description ? { description } : {}) };
}

/** The same or null. */
export function orNull(schema: JsonSchema | Component): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** One of these values. */
export function enumOf(...words: readonly JsonValue[]): JsonSchema {
  return { enum: words };
}

/** Any text. */
export const TEXT: JsonSchema = { type: "string" };
/** A whole number from 0. */
export const COUNT: JsonSchema = { type: "integer", minimum: 0 };
/** True or false. */
export const YES_OR_NO: JsonSchema = { type: "boolean" };
/** RFC 3339 UTC. */
export const INSTANT: JsonSchema = { type: "string", format: "date-time" };

/** The same, with what it means where it stands. */
export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}
