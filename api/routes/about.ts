/** The routes about the service itself (docs/reference/http.md). @module */

import page from "../docs/page.html" with { type: "text" };
import script from "../docs/page.js" with { type: "text" };
import style from "../docs/page.css" with { type: "text" };
import { PackedText, PAGE_HEADERS } from "../http/mod.ts";
import { createDocument, type DocumentOptions } from "../openapi/document.ts";
import { z } from "zod";
import { HEALTH, NOT_READY, READY } from "../schemas/answers.ts";
import type { Operation } from "../openapi/operation.ts";

/** The routes of probes, which every service answers itself. */
export const PROBE_ROUTES: readonly Operation[] = [{
  method: "GET",
  path: "/healthz",
  open: true,
  id: "health",
  answer: HEALTH,
  codes: [],
}, {
  method: "GET",
  path: "/readyz",
  open: true,
  id: "ready",
  answer: READY,
  unready: NOT_READY,
  codes: [],
}];

/**
 * Creates `GET /openapi.json` and `GET /docs`, which describe these routes and
 * themselves. Both are built at the first request.
 */
export function createDocumentRoutes(
  others: readonly Operation[],
  options: DocumentOptions,
): readonly Operation[] {
  let text: PackedText | undefined;
  let policy: Promise<string> | undefined;
  const operations: readonly Operation[] = [{
    method: "GET",
    path: "/openapi.json",
    open: true,
    id: "openApi",
    answer: z.looseObject({}).describe("The document."),
    codes: [],
    handle(c) {
      const document = () =>
        createDocument([...others, ...operations], options);
      // An example that can be sent as it is must name an issuer that the
      // service answers about.
      text ??= new PackedText(
        JSON.stringify(document())
          .replaceAll(EXAMPLE_ISSUER, () => options.issuer ?? EXAMPLE_ISSUER),
      );
      return text.send(c, "application/json");
    },
  }, {
    method: "GET",
    path: "/docs",
    open: true,
    id: "docs",
    answer: z.string().describe("The page."),
    answerType: "text/html; charset=utf-8",
    codes: [],
    async handle(c) {
      return await PAGE.send(c, "text/html; charset=utf-8", [
        ["content-security-policy", await (policy ??= createPolicy())],
        ...PAGE_HEADERS,
      ]);
    },
  }];
  return operations;
}

/** The issuer in the examples. */
const EXAMPLE_ISSUER = "did:web:acme.example";

/** The page with its style sheet and script inlined. */
const PAGE = new PackedText(
  page
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace(
      '<script type="module"></script>',
      () => `<script type="module">${script}</script>`,
    ),
);

/**
 * Returns the content security policy of the page: style sheet and script by
 * their digests, and requests only to the service itself.
 */
async function createPolicy(): Promise<string> {
  return `default-src 'none'; style-src ${await hashOf(style)}; ` +
    `script-src ${await hashOf(script)}; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

/** Returns the source expression of an inline text for a policy. */
async function hashOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `'sha256-${new Uint8Array(digest).toBase64()}'`;
}
