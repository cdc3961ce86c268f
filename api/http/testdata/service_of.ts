/** A service of a few routes. */

import type { App } from "../app.ts";
import { createService, type Route, type ServiceOptions } from "../service.ts";
import type { Answer } from "./ask.ts";

const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/healthz",
    always: true,
    handle: (exchange) => exchange.json({ status: "ok" }),
  },
  {
    method: "GET",
    path: "/open",
    open: true,
    handle: (exchange) => exchange.json({}),
  },
  {
    method: "GET",
    path: "/names/:name",
    handle: (exchange, { name }) => exchange.json({ name }),
  },
  {
    method: "POST",
    path: "/echo",
    handle: async (exchange) => exchange.json(await exchange.readJson(100_000)),
  },
  { method: "GET", path: "/both", handle: (exchange) => exchange.json(1) },
  { method: "POST", path: "/both", handle: (exchange) => exchange.json(2) },
];

/** A service of these routes and more. */
export function serviceOf(
  options: ServiceOptions = {},
  more: readonly Route[] = [],
): App {
  return createService("sig-api", [...ROUTES, ...more], options);
}

/** Status and code, or status and body. */
export function outcome({ status, code, body }: Answer): readonly unknown[] {
  return [status, code ?? body];
}
