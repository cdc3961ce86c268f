/** The verification API: maps a request to a response (docs/reference/http.md). @module */

import { createConsumer, type FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf, IssuerName } from "@sig/consumer/internal";
import type { PinStore } from "@sig/consumer/pins";
import { DEFAULT_LIMITS, type Limits, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  type App,
  countStoreErrors,
  createAnswerMetrics,
  createReadiness,
  createService,
  createTurns,
  type Decided,
  type GuardOptions,
  readJsonBytes,
  requireToken,
  toApp,
  watchErrors,
} from "./http/mod.ts";
import type { Sources } from "./ask/answer_check.ts";
import { createFeeds } from "./ask/feeds.ts";
import { createDocumentRoutes, PROBE_ROUTES } from "./routes/about.ts";
import { createAuthzenRoutes } from "./routes/authzen.ts";
import { createQuestionRoutes } from "./routes/questions.ts";
import { type Operation, VERSION } from "./openapi/operation.ts";
import { createRequestSchemas } from "./schemas/question.ts";

export type { App } from "./http/mod.ts";

/** Options of {@linkcode createApp}. */
export interface AppOptions extends GuardOptions, FetchPolicy {
  /** The bearer token that requests must carry (default: none). */
  readonly token?: string | undefined;
  /** The issuers that may be queried: did:web or host (default: none). */
  readonly issuers?: readonly string[] | undefined;
  /**
   * Whether any issuer on the public internet may be queried (default: false).
   */
  readonly anyIssuer?: boolean | undefined;
  /** Maximum age of an issuer's state in milliseconds (default: 60,000). */
  readonly maxAgeMs?: number | undefined;
  /** As in `createConsumer` (default: 0). */
  readonly graceMs?: number | undefined;
  /**
   * The store that keeps pins of the listed issuers beyond this process and
   * shares them with other processes. Stays open. As in `createConsumer`.
   */
  readonly pins?: PinStore | undefined;
  /** With `pins`: an issuer without a pin in the store is an error. */
  readonly requirePin?: boolean | undefined;
  /**
   * The origin at which clients reach the service, such as
   * `https://sig.acme.example` (default: the origin of the request).
   */
  readonly publicUrl?: string | undefined;
}

/**
 * The limits of a service, whose memory clients can fill (docs/protocol.md §8).
 */
const API_LIMITS: Limits = Object.freeze({
  ...DEFAULT_LIMITS,
  maxFeedBytes: 64 * 1024 * 1024,
  maxEvents: 250_000,
});

/**
 * Creates the application. It fetches nothing before the first request.
 *
 * @example
 * ```ts
 * import { createApp } from "@sig/api";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createApp({ issuers: ["acme.example"] });
 * const response = await app.fetch(
 *   new Request("http://127.0.0.1/v1/check", {
 *     method: "POST",
 *     headers: { "content-type": "application/json" },
 *     body: JSON.stringify({
 *       issuer: "other.example",
 *       subject: "did:web:alice.example",
 *       require: [{ role: "deploy" }],
 *     }),
 *   }),
 * );
 * assertEquals(response.status, 403);
 * assertEquals((await response.json()).code, "issuer_not_allowed");
 * ```
 *
 * @throws {SigError} as `createConsumer` for an invalid issuer, and as
 * `createService`; `invalid_request` for a `publicUrl` that is not an origin.
 */
export function createApp(options: AppOptions = {}): App {
  const { token, telemetry } = options;
  const pins = options.pins && countStoreErrors(options.pins, telemetry);
  const app = createService({
    ...options,
    service: "sig-api",
    version: VERSION,
    checkReadiness: createReadiness({
      ...fetchPolicyOf(options),
      issuers: options.issuers ?? [],
      stores: pins ? { pins } : {},
      now: options.now ?? (() => new Date()),
    }),
  });
  const checkToken = token === undefined ? undefined : requireToken(token);
  for (const operation of createRoutes({ ...options, pins })) {
    const { method, path, open, handle, body } = operation;
    if (handle === undefined) continue;
    if (!open && checkToken !== undefined) app.on(method, path, checkToken);
    app.on(method, path, async (c) => {
      const bytes = body && await readJsonBytes(c, body);
      return await handle(c, bytes ?? new Uint8Array());
    });
  }
  app.get("/", (c) => c.redirect("/docs"));
  return toApp(app);
}

/** Returns the routes with their OpenAPI descriptions. */
export function createRoutes(options: AppOptions): readonly Operation[] {
  const { issuers = [], anyIssuer = false, allowPrivate = false } = options;
  const now = options.now ?? (() => new Date());
  const publicUrl = readPublicUrl(options.publicUrl);
  const yieldToEventLoop = createTurns();
  const consumer = createConsumer({
    ...fetchPolicyOf(options),
    issuers,
    anyIssuer,
    maxAgeMs: options.maxAgeMs,
    graceMs: options.graceMs,
    pins: options.pins,
    requirePin: options.requirePin,
    limits: API_LIMITS,
    backend: "node",
    now,
    yieldToEventLoop,
  });
  const listed = uniqueIssuers(issuers, allowPrivate);
  const dids = new Set(listed.map((name) => name.expectedIssuer));
  const metrics = options.telemetry &&
    createAnswerMetrics(options.telemetry, now);
  const sources: Sources = {
    feeds: createFeeds(
      metrics ? watchErrors(consumer, metrics.failed) : consumer,
      { limits: API_LIMITS, now, yieldToEventLoop },
    ),
    now,
    yieldToEventLoop,
    listed,
    schemas: createRequestSchemas({ allowPrivate, listed }),
    decided: metrics && ((answer: Decided) =>
      metrics.decided(
        answer,
        // An inline feed may claim any issuer.
        answer.source !== "inline" && dids.has(answer.issuer),
      )),
  };
  const operations = [
    ...createQuestionRoutes(sources),
    ...createAuthzenRoutes(sources, publicUrl),
    ...PROBE_ROUTES,
  ];
  return [
    ...operations,
    ...createDocumentRoutes(operations, {
      publicUrl,
      needsToken: options.token !== undefined,
      issuer: listed[0]?.expectedIssuer,
    }),
  ];
}

/** Returns each issuer once: a list may name it by DID and by host. */
function uniqueIssuers(
  issuers: readonly string[],
  allowPrivate: boolean,
): readonly IssuerName[] {
  const names = issuers.map((text) => IssuerName.parse(text, { allowPrivate }));
  const byPlace = new Map(names.map((name) => [name.metadataRef, name]));
  return [...byPlace.values()];
}

function readPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" &&
    url.search === "" && url.hash === "" && url.username === "" &&
    url.password === ""
  ) return url.origin;
  throw new SigError("invalid_request", {
    action: `be reached at ${quote(text)}`,
    reason: "it must be an origin",
    context: { hint: "For example: https://sig.acme.example" },
  });
}
