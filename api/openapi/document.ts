/** Creates the OpenAPI 3.1 document from the routes. @module */

import { ERROR_CODES, type ErrorCode, type JsonValue } from "@sig/core";
import {
  BUSY_CODES,
  COMMON_CODES,
  type Operation,
  REQUEST_CODES,
  TAGS,
  VERSION,
} from "./operation.ts";
import { z } from "zod";
import { PROBLEM } from "../schemas/answers.ts";
import texts from "./operations.json" with { type: "json" };

/** A JSON Schema, or another object of the document. */
type PlainSchema = { readonly [keyword: string]: JsonValue };

/** The texts of an operation, and its examples by name. */
interface OperationTexts {
  /** A group of `TAGS`. */
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /**
   * Requests, and their exact answers at noon of 1 June 2026 about an issuer
   * with three events (`EXAMPLE_FEED` of the tests). A test sends all of them.
   */
  readonly examples: PlainSchema;
}

const TEXTS: { readonly [id: string]: OperationTexts } = texts;

/** The members of the document that are read here. */
export type OpenApiDocument = ReturnType<typeof createDocument>;

/** The service's properties in the document, in addition to its routes. */
export interface DocumentOptions {
  /**
   * The origin at which clients reach the service (default: that of the
   * document).
   */
  readonly publicUrl: string | undefined;
  /** Whether requests must carry a token. */
  readonly needsToken: boolean;
  /** The issuer in the examples: one that the service answers about. */
  readonly issuer: string | undefined;
}

/** Returns the document of a service's routes. */
export function createDocument(
  operations: readonly Operation[],
  { publicUrl, needsToken }: DocumentOptions,
) {
  const { schemas, bodies } = toSchemas(operations);
  const paths: { [path: string]: { [method: string]: PlainSchema } } = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(
      operation,
      bodies,
    );
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "SIG verification API",
      version: VERSION,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Asks signed feeds of relationships (SIG v0.1) whether they are in order, and what a subject may do. Every error is a problem (RFC 9457) with a stable `code`; a question without an answer is an error, never a deny. Another path is 404 `not_found`. `X-Request-ID` (any header value of up to 1,024 characters) is echoed, or made.",
    },
    servers: [
      publicUrl === undefined
        ? { url: "/", description: "Where this document is." }
        : { url: publicUrl, description: "The service's public address." },
    ],
    tags: Object.entries(TAGS).map(([name, description]) => ({
      name,
      description,
    })),
    security: needsToken ? [{ bearer: [] }] : [{ bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "Needed where the operator set a token; operations without a security requirement never need it.",
        },
      },
      schemas,
    },
  };
}

/**
 * Returns the JSON Schemas of requests and responses, and those that they refer
 * to.
 */
function toSchemas(operations: readonly Operation[]) {
  const members = operations.flatMap(({ id, body, answer, unready }) => [
    ...(body ? [[`${id} request`, body.schema] as const] : []),
    ...(unready ? [[`${id} unready`, unready] as const] : []),
    [`${id} answer`, answer] as const,
  ]);
  const whole = z.object({ ...Object.fromEntries(members), problem: PROBLEM });
  const text = JSON.stringify(z.toJSONSchema(whole, { io: "input" }));
  const { properties, $defs } = JSON.parse(
    text.replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
  return {
    bodies: properties as { readonly [name: string]: PlainSchema },
    schemas: $defs as { readonly [name: string]: PlainSchema },
  };
}

/** Returns all error codes of an operation's problems. */
function codesOf(operation: Operation): readonly ErrorCode[] {
  const codes = [
    ...operation.codes,
    ...COMMON_CODES,
    ...(operation.body ? REQUEST_CODES : []),
    ...(operation.handle === undefined ? [] : BUSY_CODES),
    ...(operation.open ? [] : ["unauthorized"] as const),
  ];
  const { otherTypeIsInvalid = false } = operation.body ?? {};
  return [...new Set(codes)].filter((code) =>
    !otherTypeIsInvalid || code !== "unsupported_media_type"
  ).sort();
}

function describe(
  operation: Operation,
  bodies: { readonly [name: string]: PlainSchema },
): PlainSchema {
  const { id, body, answer, answerType = JSON_TYPE, unready } = operation;
  const { tag, summary, description, examples } = TEXTS[id]!;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(operation.open ? { security: [] } : {}),
    parameters: [{
      name: "X-Request-ID",
      in: "header",
      required: false,
      description: "The client's id for the request.",
      schema: { type: "string", maxLength: 1_024 },
    }],
    ...(body && {
      requestBody: {
        required: true,
        description: `At most ${body.maxBytes} bytes.`,
        content: {
          [JSON_TYPE]: {
            schema: bodies[`${id} request`]!,
            examples: toExamples(examples, "request"),
          },
        },
      },
    }),
    responses: {
      "200": response(answer.description!, answerType, {
        schema: bodies[`${id} answer`]!,
        examples: toExamples(examples, "answer"),
      }),
      ...toProblems(codesOf(operation), bodies.problem!),
      ...(unready && {
        "503": response(
          unready.description!,
          JSON_TYPE,
          { schema: bodies[`${id} unready`]! },
          HEADERS[503],
        ),
      }),
    },
  };
}

const JSON_TYPE = "application/json";

function response(
  description: string,
  type: string,
  content: PlainSchema,
  headers: PlainSchema = {},
): PlainSchema {
  return {
    description,
    headers: { ...REQUEST_ID_HEADER, ...headers },
    content: { [type]: content },
  };
}

const REQUEST_ID_HEADER = {
  "X-Request-ID": {
    description: "The request's id: the client's, or a new one.",
    schema: { type: "string" },
  },
} as const;

/** Headers of a status, in addition to the request id. */
const HEADERS: { readonly [status: number]: PlainSchema } = {
  401: headers("WWW-Authenticate", "`Bearer`."),
  405: headers("Allow", "The methods of the path."),
  429: headers("Retry-After", "Seconds."),
  503: headers("Retry-After", "Seconds, if known."),
};

function headers(name: string, description: string): PlainSchema {
  return { [name]: { description, schema: { type: "string" } } };
}

/** Returns the requests or the answers of examples. */
function toExamples(
  examples: PlainSchema,
  part: "request" | "answer",
): PlainSchema {
  const members = Object.entries(examples).flatMap(([name, example]) => {
    const { summary, [part]: value } = example as PlainSchema;
    return value === undefined ? [] : [[name, { summary, value }] as const];
  });
  return Object.fromEntries(members) as PlainSchema;
}

/** Returns the problem responses by HTTP status. */
function toProblems(
  codes: readonly ErrorCode[],
  problem: PlainSchema,
): PlainSchema {
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code].status);
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => {
      const properties = { status: { const: status }, code: { enum: codes } };
      const schema = { allOf: [problem], properties };
      const description = codes.map((code) => `\`${code}\``).join(", ");
      const type = "application/problem+json";
      const found = response(description, type, { schema }, HEADERS[status]);
      return [String(status), found];
    }),
  );
}
