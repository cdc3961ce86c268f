/** The HTML pages that the server renders. @module */

import {
  PAGE_HEADERS,
  problemResponse,
  type ServiceEnv,
} from "@sig/api/internal/http";
import type { Context, MiddlewareHandler } from "hono";
import {
  escapeInvisible,
  isSigError,
  type Problem,
  SigError,
  toProblem,
} from "@sig/core";
import { OAuthError } from "./oauth.ts";

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Names and values; undefined ones are omitted. */
type Fields = { readonly [name: string]: string | undefined };

interface PageOptions {
  /** HTTP status (default: 200). */
  readonly status?: number;
  /** Additional headers. */
  readonly headers?: readonly [string, string][];
  /** Additional directives of the Content-Security-Policy. */
  readonly policy?: string;
  /** The Referrer-Policy (default: no-referrer). */
  readonly referrer?: string;
}

/** Returns the page of a person who is signed out. */
export function showSignedOut(
  headers: readonly [string, string][],
): Response {
  const body = "<p>You can close this page.</p>";
  return pageOf("You are signed out", body, { headers });
}

const GO_BACK = "Go back to the application and try again.";

/**
 * Returns the error page for a request that can't be answered. It does not
 * redirect, since the redirect_uri may not be the application's.
 */
export function refusePage(c: Context<ServiceEnv>, error: unknown): Response {
  if (error instanceof OAuthError) {
    const { message, advice } = error;
    return problemResponse(
      c,
      new SigError("invalid_request", {
        action: "sign in",
        reason: message,
        context: { hint: advice ? `Its developer: ${advice}.` : GO_BACK },
      }),
    );
  }
  // The error of an issuer or store is 503: neither an allow nor a deny.
  const { code, status } = toProblem(error);
  const isUnavailable = isSigError(error) && code !== "internal" &&
    status >= 500;
  return problemResponse(c, error, isUnavailable ? 503 : undefined);
}

/**
 * Converts problem details to a page with the same status if the client accepts
 * HTML; returns other responses unchanged.
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
  const [title, next] = wordsFor(code, status);
  const details = [
    detail,
    ...(typeof hint === "string" ? [hint] : []),
    `Request: ${instance}`,
  ].map((text) => `<p>${escapeHtml(text)}</p>`).join("");
  return pageOf(
    title,
    `<p>${next}</p>
<p class="actions"><a class="button primary" href="/">Go to the start page</a></p>
<details><summary>Details for the operator</summary>${details}</details>`,
    { status, headers: kept },
  );
}

/** Returns what happened, and what to do next, for people. */
function wordsFor(code: string, status: number): readonly [string, string] {
  if (code === "not_found") {
    return [
      "There is no such page",
      "The link is wrong, or the page is gone. You were not refused anything.",
    ];
  }
  if (status === 429 || status === 503 || code === "overloaded") {
    return [
      "This site can’t answer right now",
      "You were not refused: nothing was decided. Try again in a moment.",
    ];
  }
  return status < 500
    ? [
      "This link can’t be used",
      "Go back to the application and sign in from there again. If it leads here again, tell the people who run it.",
    ]
    : [
      "Something did not work here",
      "You were not refused: nothing was decided. Try again in a moment.",
    ];
}

/**
 * Returns a page that asks for confirmation before a logout, which a link alone
 * must not cause.
 */
export function showLogoutForm(
  fields: Fields,
  goesTo: string | undefined,
): Response {
  // Browsers apply form-action to the redirect after a form too.
  const targets = ["'self'", ...(goesTo === undefined ? [] : [goesTo])];
  return pageOf(
    "Sign out?",
    `<p>This signs you out of every application that you signed in to here.</p>
${formOf("/oidc/logout", fields, "Sign out")}`,
    {
      policy: `form-action ${targets.join(" ")}`,
      // With no-referrer, the form would be sent with `Origin: null`.
      referrer: "same-origin",
    },
  );
}

const SUBMIT = "document.forms[0].submit()";
/** The digest of {@linkcode SUBMIT}, the only script that the policy allows. */
const SUBMIT_SHA256 = "ePniVEkSivX/c7XWBGafqh8tSpiRrKiqYeqbG7N1TOE=";

/**
 * Returns a page whose form submits a response to an application automatically.
 */
export function showAnswerForm(to: string, fields: Fields): Response {
  return pageOf(
    "Back to the application",
    `${formOf(to, fields, "Continue")}<script>${SUBMIT}</script>`,
    { policy: `script-src 'sha256-${SUBMIT_SHA256}'` },
  );
}

function formOf(to: string, fields: Fields, button: string): string {
  const hidden = Object.entries(fields).map(([name, value]) =>
    value === undefined
      ? ""
      : `<input type="hidden" name="${escapeHtml(name)}" value="${
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
  { status = 200, headers = [], policy, referrer }: PageOptions = {},
): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${
    escapeHtml(title)
  }</title><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/ui/style.css"></head>
<body><header class="site-header"><div class="bar"><p class="brand"><a href="/">SIG</a></p></div></header>
<main><section class="card narrow"><h1>${
    escapeHtml(title)
  }</h1>${body}</section></main></body></html>
`;
  const csp = policy === undefined ? POLICY : `${POLICY}; ${policy}`;
  const all = new Headers([
    ...headers,
    ["content-type", "text/html; charset=utf-8"],
    ["content-security-policy", csp],
  ]);
  for (const [name, value] of PAGE_HEADERS) all.set(name, value);
  if (referrer !== undefined) all.set("referrer-policy", referrer);
  return new Response(html, { status, headers: all });
}

/**
 * @param shown Replaces invisible characters; form values must stay unchanged.
 */
function escapeHtml(text: string, shown = escapeInvisible): string {
  return shown(text)
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

/** Returns a redirect. */
export function sendTo(
  location: string,
  headers: readonly [string, string][] = [],
): Response {
  return new Response(null, {
    status: 303,
    headers: [
      ["location", location],
      // The address may contain a code, which must not be in a Referer.
      ["referrer-policy", "no-referrer"],
      ...headers,
    ],
  });
}

/** Returns an address with additional parameters. */
export function withParameters(uri: string, parameters: Fields): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) added.append(name, value);
  }
  if (added.size === 0) return uri;
  return `${uri}${uri.includes("?") ? "&" : "?"}${added}`;
}

/**
 * Rejects HEAD and prefetches for routes where GET has effects, which only
 * opening the link may cause.
 */
export const requireGet: MiddlewareHandler<ServiceEnv> = async (c, next) => {
  const { method, headers } = c.req.raw;
  if (method === "HEAD") {
    throw new SigError("method_not_allowed", {
      action: "answer",
      reason: "the method must be GET",
      context: { allow: "GET" },
    });
  }
  if (/^prefetch\b/.test(headers.get("sec-purpose") ?? "")) {
    throw new SigError("invalid_request", {
      reason: "Cannot answer a prefetch",
      context: { hint: "Open the link instead." },
    });
  }
  await next();
};
