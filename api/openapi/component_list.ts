/** The components that an OpenAPI document refers to. @module */

import type { JsonValue } from "@sig/core";
import {
  Component,
  type JsonSchema,
  type SchemaPart,
} from "../requests/schema.ts";

/** Schemas without components: references stand in their places. */
export type PlainSchema = { readonly [keyword: string]: JsonValue };

/** Collects the components of schemas, by their names, as they are met. */
export class ComponentList {
  /** Those that were met, in this order. */
  readonly schemas: { [name: string]: PlainSchema } = {};
  readonly #met = new Map<string, Component>();

  /**
   * The schema with references in the place of components.
   *
   * @throws {TypeError} when two components have one name.
   */
  plain(schema: JsonSchema | Component): PlainSchema {
    if (!(schema instanceof Component)) {
      return Object.fromEntries(
        Object.entries(schema).map(([key, part]) => [key, this.#part(part)]),
      );
    }
    const { name, json } = schema;
    const known = this.#met.get(name);
    if (known === undefined) {
      this.#met.set(name, schema);
      // Its place in the order, before those that it refers to.
      this.schemas[name] = {};
      this.schemas[name] = this.plain(json);
    } else if (known !== schema) {
      throw new TypeError(`Cannot list two schemas by the name ${name}`);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #part(part: SchemaPart): JsonValue {
    if (isList(part)) return part.map((each) => this.#part(each));
    if (typeof part !== "object" || part === null) return part;
    return this.plain(part);
  }
}

function isList(part: SchemaPart): part is readonly SchemaPart[] {
  return Array.isArray(part);
}
