/** The members of a schema, for people. @module */

import { isObject } from "@sig/core";
import type { OpenApiDocument } from "../openapi/document.ts";
import { escapeHtml, prose } from "./html.ts";

/** What is read of a schema here. */
interface ReadSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: { readonly [name: string]: ReadSchema };
  readonly required?: readonly string[];
  readonly anyOf?: readonly ReadSchema[];
  readonly oneOf?: readonly ReadSchema[];
  readonly items?: ReadSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

/** Deeper members are named by their own section of the schema. */
const MAX_DEPTH = 2;

/** Whose members they are: what a reader wants to know differs. */
export type Side = "request" | "answer";

/** Renders the members of a schema, or of each schema that it may be. */
export function renderMembers(
  schema: unknown,
  document: OpenApiDocument,
  side: Side,
): string {
  return variants(schema as ReadSchema, document).map((each) => {
    const about = each.description === undefined
      ? ""
      : `<p>${prose(each.description)}</p>`;
    return about + renderProperties(each, document, side, 0);
  }).join("<p class=note>or</p>");
}

function variants(
  schema: ReadSchema,
  document: OpenApiDocument,
): readonly ReadSchema[] {
  const resolved = resolve(schema, document);
  const choices = resolved.properties === undefined
    ? resolved.anyOf ?? resolved.oneOf
    : undefined;
  return choices === undefined
    ? [resolved]
    : choices.map((each) => resolve(each, document));
}

function resolve(schema: ReadSchema, document: OpenApiDocument): ReadSchema {
  const name = schema.$ref?.split("/").at(-1);
  if (name === undefined) return schema;
  return {
    ...document.components.schemas[name],
    ...(schema.description ? { description: schema.description } : {}),
  };
}

function renderProperties(
  schema: ReadSchema,
  document: OpenApiDocument,
  side: Side,
  depth: number,
): string {
  const { properties, required = [] } = schema;
  if (properties === undefined || depth === MAX_DEPTH) return "";
  const rows = Object.entries(properties).map(([name, member]) => {
    const resolved = resolve(member, document);
    const inner = innerObject(resolved, document);
    const isRequired = required.includes(name);
    const need = side === "request"
      ? isRequired ? ", required" : ""
      : isRequired
      ? ""
      : ", not always there";
    return `<dt><code>${escapeHtml(name)}</code> <span class=note>${
      escapeHtml(kindOf(resolved, document))
    }${need}</span></dt><dd>${prose(resolved.description ?? "")}${
      inner === undefined
        ? ""
        : renderProperties(inner, document, side, depth + 1)
    }</dd>`;
  });
  return `<dl>${rows.join("")}</dl>`;
}

/** The object that a member is, or is a list of. */
function innerObject(
  schema: ReadSchema,
  document: OpenApiDocument,
): ReadSchema | undefined {
  const candidates = [schema, schema.items, ...schema.anyOf ?? []];
  for (const candidate of candidates) {
    if (!isObject(candidate)) continue;
    const resolved = resolve(candidate, document);
    if (resolved.properties !== undefined) return resolved;
  }
  return undefined;
}

function kindOf(schema: ReadSchema, document: OpenApiDocument): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    return schema.enum.length > 12
      ? "string"
      : schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  }
  if (schema.anyOf !== undefined) {
    const kinds = schema.anyOf.map((each) =>
      kindOf(resolve(each, document), document)
    );
    return [...new Set(kinds)].join(" | ");
  }
  if (schema.type === "array") {
    const item = schema.items ? resolve(schema.items, document) : {};
    const most = schema.maxItems === undefined
      ? ""
      : `, at most ${schema.maxItems}`;
    const kind = kindOf(item, document);
    return `list of ${kind.includes(" | ") ? `(${kind})` : kind}${most}`;
  }
  const { minimum, maximum } = schema;
  const range = minimum === undefined || maximum === undefined ||
      maximum === Number.MAX_SAFE_INTEGER
    ? ""
    : `, ${minimum} to ${maximum}`;
  return `${schema.type ?? "any JSON"}${range}`;
}
