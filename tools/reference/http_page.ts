/** `docs/reference/http.md`, from the OpenAPI document of the API. @module */

import { createApp } from "@sig/api";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

interface Content {
  readonly [type: string]: {
    readonly schema: Schema;
    readonly examples?: { readonly [name: string]: Example };
  };
}

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly requestBody?: { readonly description: string; content: Content };
  readonly responses: {
    readonly [status: string]: {
      readonly description: string;
      readonly content?: Content;
    };
  };
}

interface Document {
  readonly info: { readonly description: string };
  readonly paths: {
    readonly [path: string]: { readonly [method: string]: Operation };
  };
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema };
  };
}

/** Makes the page. */
export async function httpPage(): Promise<string> {
  const response = await createApp().fetch(
    new Request("http://127.0.0.1/openapi.json"),
  );
  const document = await response.json() as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      section(`${method.toUpperCase()} ${path}`, operation, document)
    )
  );
  return `# The verification API over HTTP

${document.info.description}

A running service shows the same at \`/docs\`, and for programs at
\`/openapi.json\`. What its errors mean: [errors.md](errors.md).

${operations.join("\n")}`;
}

function section(title: string, operation: Operation, all: Document): string {
  const { description, requestBody, responses, summary } = operation;
  const answer = responses["200"];
  const problems = Object.entries(responses)
    .filter(([status]) => status !== "200")
    .map(([status, { description }]) => `- ${status}: ${description}`);
  return [
    `## \`${title}\``,
    `**${summary.replace(/[.?]?$/, (end) => end || ".")}** ${description}`,
    requestBody ? `### Request\n\n${requestBody.description}` : "",
    requestBody ? members(requestBody.content, all) : "",
    requestBody ? examples(requestBody.content, 1) : "",
    answer ? `### Answer\n\n${answer.description}` : "",
    answer?.content ? members(answer.content, all) : "",
    answer?.content && requestBody ? examples(answer.content, 1) : "",
    problems.length > 0 ? `### Problems\n\n${problems.join("\n")}` : "",
  ].filter((part) => part !== "").join("\n\n") + "\n";
}

/** A table of the members of a body, or of each of its shapes. */
function members(content: Content, all: Document): string {
  const tables = Object.values(content).flatMap(({ schema }) =>
    shapesOf(schema, all).map((shape) => memberTable(shape, all))
  );
  return tables.filter((table) => table !== "").join("\n\nor:\n\n");
}

function shapesOf(schema: Schema, all: Document): readonly Schema[] {
  const found = resolve(schema, all);
  const shapes = found.properties ? undefined : found.oneOf ?? found.anyOf;
  return shapes?.flatMap((each) => shapesOf(each, all)) ?? [found];
}

function resolve(schema: Schema, all: Document): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : all.components.schemas[name] ?? schema;
}

function memberTable({ properties, required = [] }: Schema, all: Document) {
  const rows = Object.entries(properties ?? {}).map(([name, member]) => {
    const found = resolve(member, all);
    const text = member.description ?? found.description ?? "";
    const need = required.includes(name) ? " (always)" : "";
    return `| \`${name}\` | ${cell(typeOf(member, all))} | ${
      cell(text)
    }${need} |`;
  });
  if (rows.length === 0) return "";
  return `| member | type | |\n| --- | --- | --- |\n${rows.join("\n")}`;
}

function typeOf(schema: Schema, all: Document): string {
  const found = resolve(schema, all);
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((each) => `\`${each}\``).join(", ");
  if (found.items) return `list of ${typeOf(found.items, all)}`;
  const shapes = found.oneOf ?? found.anyOf;
  if (shapes && found.type === undefined) {
    return [...new Set(shapes.map((each) => typeOf(each, all)))].join(" or ");
  }
  return [found.type ?? "any value"].flat().join(" or ");
}

function examples(content: Content, most: number): string {
  return Object.values(content).flatMap(({ examples = {} }) =>
    Object.values(examples).slice(0, most).map(({ summary, value }) =>
      `${summary ? `${summary}:\n\n` : ""}\`\`\`json\n${
        JSON.stringify(value, null, 2)
      }\n\`\`\``
    )
  ).join("\n\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
