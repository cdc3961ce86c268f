/** The routes that tell of the service itself (docs/reference/http.md). @module */

import { renderPage } from "../pages/page.ts";
import { createPolicy } from "../pages/page_files.ts";
import { PAGE_HEADERS, send } from "../http/mod.ts";
import { createDocument, type OpenApiDocument } from "../openapi/document.ts";
import { HEALTH_EXAMPLES } from "../openapi/examples.ts";
import { HEALTH } from "../requests/answers.ts";
import type { Operation } from "../openapi/operation.ts";

/** The health check, which every service answers by itself. */
export const HEALTH_ROUTE: Operation = {
  method: "GET",
  path: "/healthz",
  open: true,
  id: "health",
  tag: "service",
  summary: "Is the service there?",
  description: "Answers without a token, and however busy the service is.",
  answer: {
    type: "application/json",
    description: "It is.",
    schema: HEALTH,
  },
  examples: HEALTH_EXAMPLES,
  codes: [],
};

/** What the documents need to know of the service. */
interface DocumentOptions {
  /** Where clients reach it; (default: the origin that they ask). */
  readonly publicUrl: string | undefined;
  /** Whether requests must carry a token. */
  readonly needsToken: boolean;
}

/**
 * `GET /openapi.json` and `GET /docs`, about these routes and themselves. Both
 * are made when they are first asked for.
 */
export function createDocumentRoutes(
  others: readonly Operation[],
  { publicUrl, needsToken }: DocumentOptions,
): readonly Operation[] {
  let made: OpenApiDocument | undefined;
  let text: string | undefined;
  let policy: Promise<string> | undefined;
  const document = () =>
    made ??= createDocument([...others, ...operations], publicUrl);
  const operations: readonly Operation[] = [{
    method: "GET",
    path: "/openapi.json",
    open: true,
    id: "openApi",
    tag: "service",
    summary: "This document",
    description: "OpenAPI 3.1 of exactly these routes; needs no token.",
    answer: {
      type: "application/json",
      description: "The document.",
      schema: { type: "object" },
    },
    examples: {},
    codes: [],
    handle: (c) =>
      send(c, text ??= JSON.stringify(document()), "application/json"),
  }, {
    method: "GET",
    path: "/docs",
    open: true,
    id: "docs",
    tag: "service",
    summary: "The same for people",
    description:
      "A page that loads nothing, and tries each route where it is; needs no token.",
    answer: {
      type: "text/html; charset=utf-8",
      description: "The page.",
      schema: { type: "string" },
    },
    examples: {},
    codes: [],
    async handle(c) {
      const base = publicUrl ?? new URL(c.req.url).origin;
      const html = renderPage(document(), { base, needsToken });
      return send(c, html, "text/html; charset=utf-8", {
        headers: [
          ["content-security-policy", await (policy ??= createPolicy())],
          ...PAGE_HEADERS,
        ],
      });
    },
  }];
  return operations;
}
