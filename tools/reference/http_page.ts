/**
 * `docs/reference/http.md`, generated from the OpenAPI document, as `/docs` of
 * the API is. @module
 */

import { createApp } from "@sig/api";
import type { OpenApiDocument } from "../../api/openapi/document.ts";
import { readRoutes } from "../../api/docs/page.js";

/** The content of a route's section. */
interface RouteModel {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly request?: BodyModel;
  readonly answer: BodyModel;
  readonly examples: readonly {
    readonly summary: string;
    readonly request?: unknown;
    readonly answer?: unknown;
  }[];
  readonly problems: readonly {
    readonly status: string;
    readonly codes: string;
  }[];
}

interface BodyModel {
  readonly description: string;
  readonly type: string;
  readonly shapes: readonly {
    readonly description: string;
    readonly members: readonly MemberModel[];
  }[];
}

interface MemberModel {
  readonly name: string;
  readonly kind: string;
  readonly note: string;
  readonly description: string;
  readonly members: readonly MemberModel[];
}

/** Returns the page as Markdown. */
export async function httpPage(): Promise<string> {
  const response = await createApp().fetch(
    new Request("http://127.0.0.1/openapi.json"),
  );
  const document = await response.json() as OpenApiDocument;
  return `# The verification API over HTTP

${document.info.description}

A running service shows the same at \`/docs\`, and for programs at
\`/openapi.json\`. What its errors mean: [errors.md](errors.md).

${readRoutes(document).map(section).join("\n")}`;
}

function section(route: RouteModel): string {
  const { method, path, summary, description, request, answer } = route;
  const [example] = route.examples;
  const problems = route.problems.map(({ status, codes }) =>
    `- ${status}: ${codes}`
  );
  return [
    `## \`${method} ${path}\``,
    `**${summary.replace(/[.?]?$/, (end) => end || ".")}** ${description}`,
    ...request ? body("Request", request) : [],
    ...body("Answer", answer),
    ...example?.answer === undefined ? [] : [
      `### Example: ${example.summary}`,
      ...example.request === undefined ? [] : [json(example.request)],
      json(example.answer),
    ],
    `### Problems\n\n${problems.join("\n")}`,
  ].join("\n\n") + "\n";
}

function body(
  title: string,
  { description, type, shapes }: BodyModel,
): readonly string[] {
  return [
    `### ${title}`,
    `${description} \`${type}\``,
    shapes.map(({ description, members }) =>
      [description, table(members)].filter((part) => part !== "").join("\n\n")
    ).filter((shape) => shape !== "").join("\n\nor:\n\n"),
  ].filter((part) => part !== "");
}

function table(members: readonly MemberModel[]): string {
  if (members.length === 0) return "";
  return `| member | type | |\n| --- | --- | --- |\n${
    rows(members, "").join("\n")
  }`;
}

/** Returns the rows of members; nested members have dotted names. */
function rows(
  members: readonly MemberModel[],
  prefix: string,
): readonly string[] {
  return members.flatMap(({ name, kind, note, description, members }) => [
    `| \`${prefix}${name}\` | ${cell(note ? `${kind}, ${note}` : kind)} | ${
      cell(description)
    } |`,
    ...rows(members, `${prefix}${name}.`),
  ]);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
