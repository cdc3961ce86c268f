/** A service of a few routes. */

import type { Handler, Hono } from "hono";
import type { ServiceEnv } from "../guard.ts";
import type { GuardOptions } from "../options.ts";
import { requireToken } from "../access.ts";
import { readJson } from "../read_body.ts";
import { sendJson } from "../send.ts";
import { createService } from "../service.ts";
import type { Asked } from "../../testdata/asking.ts";

/** Creates a service with a few routes, and further ones by path. */
export function serviceOf(
  { token, ...options }: GuardOptions & { readonly token?: string } = {},
  more: { readonly [path: string]: Handler<ServiceEnv> } = {},
): Hono<ServiceEnv> {
  const app = createService({
    ...options,
    service: "sig-api",
    version: "0.1.0",
    unlimited: ["/asset"],
  });
  app.get("/open", (c) => sendJson(c, {}));
  if (token !== undefined) app.use("/names/*", requireToken(token));
  app.get("/names/:name", (c) => sendJson(c, { name: c.req.param("name") }));
  app.post("/echo", async (c) => sendJson(c, await readJson(c, 100_000)));
  app.get("/both", (c) => sendJson(c, 1));
  app.post("/both", (c) => sendJson(c, 2));
  for (const [path, handle] of Object.entries(more)) {
    app.on(["GET", "POST"], path, handle);
  }
  return app;
}

/** Status and code, or status and body. */
export function outcome({ status, body, text }: Asked): readonly unknown[] {
  return [status, body.code ?? text];
}
