/**
 * What people read of each route, taken from the OpenAPI document. `/docs`
 * writes it as HTML, `deno task docs` as Markdown.
 *
 * @module
 */

import { isObject } from "@sig/core/internal";
import type { OpenApiDocument } from "../openapi/document.ts";

/** A route. */
export interface RouteModel {
  /** Its name in generated clients. */
  readonly id: string;
  /** `GET` or `POST`. */
  readonly method: string;
  /** Its path. */
  readonly path: string;
  /** The name of its group. */
  readonly tag: string;
  /** One line, with or without a full stop. */
  readonly summary: string;
  /** In more words, with `code` between backticks. */
  readonly description: string;
  /** Whether it is answered without a token. */
  readonly isOpen: boolean;
  /** What it is sent; absent for `GET`. */
  readonly request?: BodyModel;
  /** What it answers with status 200. */
  readonly answer: BodyModel;
  /** What it is asked and answers, for instance. */
  readonly examples: readonly ExampleModel[];
  /** Its other answers: each status with its codes. */
  readonly problems: readonly {
    readonly status: string;
    readonly codes: string;
  }[];
}

/** A body. */
export interface BodyModel {
  /** In words. */
  readonly description: string;
  /** Its media type. */
  readonly type: string;
  /** What it may be: one of these. */
  readonly shapes: readonly ShapeModel[];
}

/** An object; or what has no members. */
interface ShapeModel {
  /** In words. */
  readonly description: string;
  /** Its members. */
  readonly members: readonly MemberModel[];
}

/** A member of an object. */
export interface MemberModel {
  /** Its name. */
  readonly name: string;
  /** Its values, in short: `integer, 1 to 10`. */
  readonly kind: string;
  /** When it is there, where that is not as a reader expects. */
  readonly note: "required" | "not always there" | "";
  /** In words. */
  readonly description: string;
  /** The members of the object that it is, or is a list of. */
  readonly members: readonly MemberModel[];
}

/** One request and its answer. */
export interface ExampleModel {
  /** What it shows. */
  readonly summary: string;
  /** The body that is sent; absent for `GET`. */
  readonly request: unknown;
  /** The body that comes; absent where it is a text. */
  readonly answer: unknown;
}

/** Reads the routes out of the document, in its order. */
export function readRoutes(document: OpenApiDocument): readonly RouteModel[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      toRoute(
        method.toUpperCase(),
        path,
        operation as unknown as ReadOperation,
        document,
      )
    )
  );
}

/** What is read of an operation here. */
interface ReadOperation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly unknown[];
  readonly requestBody?: ReadBody;
  readonly responses: { readonly [status: string]: ReadBody };
}

interface ReadBody {
  readonly description: string;
  readonly content: {
    readonly [type: string]: {
      readonly schema: ReadSchema;
      readonly examples?: { readonly [name: string]: ReadExample };
    };
  };
}

interface ReadExample {
  readonly summary: string;
  readonly value: unknown;
}

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

function toRoute(
  method: string,
  path: string,
  operation: ReadOperation,
  document: OpenApiDocument,
): RouteModel {
  const { operationId: id, summary, description, requestBody } = operation;
  const { 200: answer, ...others } = operation.responses;
  return {
    id,
    method,
    path,
    tag: operation.tags[0],
    summary,
    description,
    isOpen: operation.security !== undefined,
    ...(requestBody
      ? { request: toBody(requestBody, document, "request") }
      : {}),
    answer: toBody(answer!, document, "answer"),
    examples: toExamples(requestBody, answer!),
    problems: Object.entries(others).map(([status, { description: codes }]) => (
      { status, codes }
    )),
  };
}

function examplesOf(body: ReadBody | undefined) {
  const [content] = Object.values(body?.content ?? {});
  return content?.examples ?? {};
}

function toExamples(
  request: ReadBody | undefined,
  answer: ReadBody,
): readonly ExampleModel[] {
  const asked = examplesOf(request);
  const answered = examplesOf(answer);
  const named = request === undefined ? answered : asked;
  return Object.entries(named).map(([name, { summary }]) => ({
    summary,
    request: asked[name]?.value,
    answer: answered[name]?.value,
  }));
}

/** Whose members they are: what a reader expects differs. */
type Side = "request" | "answer";

function toBody(
  { description, content }: ReadBody,
  document: OpenApiDocument,
  side: Side,
): BodyModel {
  const [type, { schema }] = Object.entries(content)[0]!;
  const whole = resolve(schema, document);
  const choices = whole.properties === undefined
    ? whole.anyOf ?? whole.oneOf
    : undefined;
  const shapes = choices?.map((each) => resolve(each, document)) ?? [whole];
  return {
    description,
    type,
    shapes: shapes.map((each) => ({
      description: each.description ?? "",
      members: toMembers(each, document, side, 0),
    })),
  };
}

function resolve(schema: ReadSchema, document: OpenApiDocument): ReadSchema {
  const name = schema.$ref?.split("/").at(-1);
  if (name === undefined) return schema;
  return {
    ...document.components.schemas[name],
    ...(schema.description ? { description: schema.description } : {}),
  };
}

/** Members of members are shown; what is deeper would hide the rest. */
const MAX_DEPTH = 2;

function toMembers(
  { properties = {}, required = [] }: ReadSchema,
  document: OpenApiDocument,
  side: Side,
  depth: number,
): readonly MemberModel[] {
  if (depth === MAX_DEPTH) return [];
  return Object.entries(properties).map(([name, schema]) => {
    const member = resolve(schema, document);
    const inner = innerObject(member, document);
    const isRequired = required.includes(name);
    return {
      name,
      kind: kindOf(member, document),
      note: side === "request"
        ? isRequired ? "required" : ""
        : isRequired
        ? ""
        : "not always there",
      description: member.description ?? "",
      members: inner ? toMembers(inner, document, side, depth + 1) : [],
    };
  });
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

/** Values that are named one by one; of more it is said that they are texts. */
const MAX_NAMED = 12;

function kindOf(schema: ReadSchema, document: OpenApiDocument): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    return schema.enum.length > MAX_NAMED
      ? "string"
      : schema.enum.map((each) => JSON.stringify(each)).join(" or ");
  }
  if (schema.anyOf !== undefined) {
    const kinds = schema.anyOf.map((each) =>
      kindOf(resolve(each, document), document)
    );
    return [...new Set(kinds)].join(" or ");
  }
  if (schema.type === "array") {
    const item = schema.items ? resolve(schema.items, document) : {};
    const most = schema.maxItems === undefined
      ? ""
      : `, at most ${schema.maxItems}`;
    const kind = kindOf(item, document);
    return `list of ${kind.includes(" or ") ? `(${kind})` : kind}${most}`;
  }
  const { minimum, maximum } = schema;
  const range = minimum === undefined || maximum === undefined ||
      maximum === Number.MAX_SAFE_INTEGER
    ? ""
    : `, ${minimum} to ${maximum}`;
  return `${schema.type ?? "any JSON"}${range}`;
}
