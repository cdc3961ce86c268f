/** The server's own few pages. @module */

import {
  PAGE_HEADERS,
  problemResponse,
  readForm,
  type ServiceEnv,
} from "@sig/api/http";
import type { Context, MiddlewareHandler } from "hono";
import {
  ERROR_CODES,
  escapeInvisible,
  isSigError,
  type Problem,
  SigError,
  toProblem,
} from "@sig/core";
import { OAuthError } from "./oauth_error.ts";

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

interface PageOptions {
  /** HTTP status (default: 200). */
  readonly status?: number;
  /** Further headers. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Further directives of the content security policy. */
  readonly policy?: string;
}

/** A page of a title and paragraphs; texts of others are escaped. */
export function showPage(
  title: string,
  paragraphs: readonly string[],
  options?: PageOptions,
): Response {
  const body = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join("");
  return pageOf(title, body, options);
}

/**
 * The response to a person of whom an application asked something that can't be
 * answered: nothing is sent to an address that is not known to be its own.
 */
export function refusePage(c: Context<ServiceEnv>, error: unknown): Response {
  if (error instanceof OAuthError) {
    const { message } = error;
    return problemResponse(
      c,
      new SigError("invalid_request", `Cannot sign in: ${message}`, {
        context: { hint: "Go back to the application and try again." },
      }),
    );
  }
  return isSigError(error) && error.category !== "internal" &&
      ERROR_CODES[error.code].status >= 500
    ? refuseUnavailable(c, error)
    : problemResponse(c, error);
}

/** The error of an issuer or a store, as 503: neither yes nor no. */
export function refuseUnavailable(
  c: Context<ServiceEnv>,
  error: SigError,
): Response {
  const { headers } = problemResponse(c, error);
  const problem = { ...toProblem(error), status: 503 };
  const instance: string = c.get("requestId");
  return new Response(JSON.stringify({ ...problem, instance }), {
    status: 503,
    headers,
  });
}

/**
 * A problem as a page of ours, with the same status, where the client accepts
 * HTML; any other response as it is.
 */
export async function problemAsPage(
  { method, headers: given }: Request,
  response: Response,
): Promise<Response> {
  const isProblem =
    response.headers.get("content-type") === "application/problem+json";
  const isPage = given.get("accept")?.includes("text/html") ?? false;
  if (!isProblem || !isPage || method === "HEAD") return response;
  const { status, code, detail, hint, instance }: Problem = await response
    .json();
  const kept = Array.from(response.headers).filter(([name]) =>
    !name.startsWith("content-")
  );
  return showPage(
    code === "not_found"
      ? "Not found"
      : status < 500
      ? "That is not possible"
      : "That did not work",
    [
      detail,
      ...(typeof hint === "string" ? [hint] : []),
      ...(status < 500 ? [] : ["Nothing was decided. Try again in a moment."]),
      `Request: ${instance}`,
    ],
    { status, headers: kept },
  );
}

/** A page that asks before it logs out: a link alone must not do that. */
export function showLogoutForm(
  fields: { readonly [name: string]: string },
  goesTo: string | undefined,
): Response {
  // Browsers hold the redirect that follows a form against the policy, too.
  const targets = ["'self'", ...(goesTo === undefined ? [] : [goesTo])];
  return pageOf(
    "Sign out?",
    `<p>This signs you out of every application that you signed in to here.</p>
${formOf("/oidc/logout", fields, "Sign out")}`,
    { policy: `form-action ${targets.join(" ")}` },
  );
}

const SUBMIT = "document.forms[0].submit()";
/** The digest of {@linkcode SUBMIT}: no other script may run. */
const SUBMIT_SHA256 = "ePniVEkSivX/c7XWBGafqh8tSpiRrKiqYeqbG7N1TOE=";

/** A page whose form brings an answer to an application, by itself. */
export function showAnswerForm(
  to: string,
  fields: { readonly [name: string]: string | undefined },
): Response {
  return pageOf(
    "Back to the application",
    `${formOf(to, fields, "Continue")}<script>${SUBMIT}</script>`,
    { policy: `script-src 'sha256-${SUBMIT_SHA256}'` },
  );
}

function formOf(
  to: string,
  fields: { readonly [name: string]: string | undefined },
  button: string,
): string {
  const hidden = Object.entries(fields).map(([name, value = ""]) =>
    `<input type="hidden" name="${escapeHtml(name)}" value="${
      escapeHtml(value, (text) => text)
    }">`
  );
  return `<form method="post" action="${escapeHtml(to)}">${
    hidden.join("")
  }<p class="actions"><button class="primary">${button}</button></p></form>`;
}

function pageOf(
  title: string,
  body: string,
  { status = 200, headers = [], policy }: PageOptions = {},
): Response {
  return new Response(
    `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${
      escapeHtml(title)
    }</title><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/ui/style.css"></head>
<body><main><section class="card narrow"><h1>${
      escapeHtml(title)
    }</h1>${body}</section></main></body></html>
`,
    {
      status,
      headers: [
        ...headers.map(([name, value]): [string, string] => [name, value]),
        ["content-type", "text/html; charset=utf-8"],
        [
          "content-security-policy",
          policy === undefined ? POLICY : `${POLICY}; ${policy}`,
        ],
        ...PAGE_HEADERS.map(([name, value]): [string, string] => [name, value]),
      ],
    },
  );
}

/** @param shown How invisible characters are shown; a value must stay as it is. */
function escapeHtml(text: string, shown = escapeInvisible): string {
  return shown(text)
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

/** Bytes of a form at most. */
export const MAX_FORM_BYTES = 16 * 1024;

/**
 * Answers a form with a link to the same place: browsers send no cookie with the
 * forms of other sites, but with links.
 */
export async function formToLink(
  c: Context<ServiceEnv>,
  to: string,
): Promise<Response> {
  return sendTo(`${to}?${await readForm(c, MAX_FORM_BYTES)}`);
}

/** Sends a browser on; parameters that are undefined are left out. */
export function sendTo(
  location: string,
  headers: readonly (readonly [string, string])[] = [],
): Response {
  return new Response(null, {
    status: 303,
    headers: [
      ["location", location],
      // The address may hold a code: it is nobody else's business.
      ["referrer-policy", "no-referrer"],
      ...headers.map(([name, value]): [string, string] => [name, value]),
    ],
  });
}

/** An address with further parameters; undefined ones are left out. */
export function withParameters(
  uri: string,
  parameters: { readonly [name: string]: string | undefined },
): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) added.append(name, value);
  }
  if (added.size === 0) return uri;
  return `${uri}${uri.includes("?") ? "&" : "?"}${added}`;
}

/**
 * Refuses HEAD and prefetches where GET changes something: only a person who
 * opens the link means it.
 */
export const requireGet: MiddlewareHandler<ServiceEnv> = async (c, next) => {
  const { method, headers } = c.req.raw;
  if (method === "HEAD") {
    throw new SigError(
      "method_not_allowed",
      "Cannot answer: the method must be GET",
      { context: { allow: "GET" } },
    );
  }
  if (/^prefetch\b/.test(headers.get("sec-purpose") ?? "")) {
    throw new SigError("invalid_request", "Cannot answer a prefetch", {
      context: { hint: "Open the link instead." },
    });
  }
  await next();
};
