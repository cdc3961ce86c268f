/** One description of a value: how it is read and how it is documented. @module */

import type { JsonValue } from "@sig/core";
import type { Faults } from "./faults.ts";

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: JsonValue };

/** A kind of value: strict reading and its documentation, from one place. */
export interface Schema<T> {
  /** What the OpenAPI document says of it. */
  readonly json: JsonSchema;
  /**
   * The value as it is understood. What is wrong goes to `faults` with its
   * place, and the result is then of no use.
   */
  read(value: unknown, pointer: string, faults: Faults): T | undefined;
}

/** The same, documented by the name of a component of the OpenAPI document. */
export function named<T>(name: string, schema: Schema<T>): Schema<T> {
  return { json: refTo(name), read: schema.read };
}

/** A reference to a component of the OpenAPI document. */
export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
