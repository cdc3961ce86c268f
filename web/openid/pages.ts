/** The provider's own few pages. @module */

import {
  PAGE_HEADERS,
  problemResponse,
  readForm,
  send,
  type ServiceEnv,
} from "@sig/api/http";
import type { Context, MiddlewareHandler } from "hono";
import { escapeInvisible, SigError, toProblem } from "@sig/core";
import { OAuthError, toOAuthError } from "./oauth_error.ts";

const POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** A page of a title and paragraphs; texts of others are escaped. */
export function showPage(
  c: Context<ServiceEnv>,
  title: string,
  paragraphs: readonly string[],
  status = 200,
  headers: readonly (readonly [string, string])[] = [],
): Response {
  const body = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join("");
  return reply(c, title, body, POLICY, status, headers);
}

/**
 * A page for a person of whom an application asked something that can't be
 * answered: nothing is sent to an address that is not known to be its own.
 */
export function showRefusal(c: Context<ServiceEnv>, thrown: unknown): Response {
  const isOurs = thrown instanceof OAuthError;
  const { code, message } = toOAuthError(thrown);
  const problem = isOurs ? undefined : toProblem(thrown);
  if (problem?.code === "internal") c.set("thrown", thrown);
  const isOpen = code === "temporarily_unavailable";
  // Which of our own sources was silent is nothing to a browser.
  const status = problem === undefined || isOpen && problem.status >= 500
    ? (isOpen ? 503 : 400)
    : problem.status;
  return showPage(
    c,
    status < 500 ? "We couldn't sign you in" : "Could not tell",
    [
      problem?.detail ?? `Cannot sign in: ${message}.`,
      status < 500
        ? "Go back to the application and try again. If that does not help, tell its operator."
        : "Nothing was decided. Try again in a moment.",
    ],
    status,
    status === 503 || status === 429
      ? [["retry-after", String(problem?.retry_after_seconds ?? 5)]]
      : [],
  );
}

/** A page that asks before it logs out: a link alone must not do that. */
export function showLogoutForm(
  c: Context<ServiceEnv>,
  fields: readonly (readonly [string, string])[],
  goesTo: string | undefined,
): Response {
  const hidden = fields.map(([name, value]) =>
    `<input type="hidden" name="${escapeHtml(name)}" value="${
      escapeHtml(value)
    }">`
  ).join("");
  // Browsers hold the redirect that follows a form against the policy, too.
  const targets = ["'self'", ...(goesTo === undefined ? [] : [goesTo])];
  return reply(
    c,
    "Sign out?",
    `<p>This signs you out of every application that you signed in to here.</p>
<form method="post" action="/oidc/logout">${hidden}<button>Sign out</button></form>`,
    `${POLICY}; form-action ${targets.join(" ")}`,
  );
}

function reply(
  c: Context<ServiceEnv>,
  title: string,
  body: string,
  policy: string,
  status = 200,
  headers: readonly (readonly [string, string])[] = [],
): Response {
  return send(
    c,
    `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${
      escapeHtml(title)
    }</title><meta name="viewport" content="width=device-width"></head>
<body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>
`,
    "text/html; charset=utf-8",
    {
      status,
      headers: [
        ...headers,
        ["content-security-policy", policy],
        ...PAGE_HEADERS,
      ],
    },
  );
}

function escapeHtml(text: string): string {
  return escapeInvisible(text)
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
    return problemResponse(
      c,
      new SigError(
        "method_not_allowed",
        "Cannot answer: the method must be GET",
        { context: { allow: "GET" } },
      ),
    );
  }
  if (/^prefetch\b/.test(headers.get("sec-purpose") ?? "")) {
    return problemResponse(
      c,
      new SigError("invalid_request", "Cannot answer a prefetch", {
        context: { hint: "Open the link instead." },
      }),
    );
  }
  await next();
};
