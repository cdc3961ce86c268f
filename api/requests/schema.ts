/** One description of a value: how it is read and how it is documented. @module */

import type { JsonValue } from "@sig/core";
import type { Faults } from "./faults.ts";

/**
 * A JSON Schema, draft 2020-12. Wherever it has a schema inside, a
 * {@linkcode Component} may stand for it.
 */
export type JsonSchema = { readonly [keyword: string]: SchemaPart };

/** What stands behind a keyword of a {@linkcode JsonSchema}. */
export type SchemaPart =
  | JsonValue
  | Component
  | JsonSchema
  | readonly SchemaPart[];

/**
 * A schema that the OpenAPI document lists by a name of its own and refers to
 * wherever this value stands. There is no other way to refer to one, so none can
 * be named that is not listed.
 */
export class Component {
  /**
   * Names a schema; two of one name can't stand in one document.
   *
   * @param name Of letters and digits.
   * @param json What it stands for.
   */
  constructor(readonly name: string, readonly json: JsonSchema) {}
}

/** A kind of value: strict reading and its documentation, from one place. */
export interface Schema<T> {
  /** What the OpenAPI document says of it. */
  readonly json: JsonSchema | Component;
  /**
   * The value as it is understood. What is wrong goes to `faults` with its
   * place, and the result is then of no use.
   */
  read(value: unknown, pointer: string, faults: Faults): T | undefined;
}

/**
 * The same, listed by this name in the OpenAPI document.
 *
 * @throws {TypeError} for a schema that has a name.
 */
export function named<T>(name: string, { json, read }: Schema<T>): Schema<T> {
  if (json instanceof Component) {
    throw new TypeError(`Cannot name ${name}: it is named ${json.name}`);
  }
  return { json: new Component(name, json), read };
}

/** Documented as that schema is, but taken as it comes: it is read when due. */
export function later({ json }: Schema<unknown>): Schema<unknown> {
  return { json, read: (value) => value };
}
