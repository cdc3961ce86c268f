/**
 * The demo around the login: its page, its issuer, and the actions of its
 * visitors.
 *
 * @module
 */

import { type App, problemResponse, readJson } from "@sig/api/internal/http";
import { readAs, strictObject } from "@sig/api/internal/schemas";
import { WELL_KNOWN_PATHS } from "@sig/core";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { addPage, LOGIN_ROUTES } from "../pages/page.ts";
import type { PageConfig } from "../ui/page_config.ts";
import type { DemoApp } from "./demo_app.ts";
import type { DemoEvent, DemoIssuer } from "./demo_issuer.ts";

/** The state that the page's story shows. */
export interface DemoState {
  /** The subject of the request, or null. */
  readonly subject: string | null;
  /** The last event about the subject. */
  readonly relationship: DemoEvent | null;
  /** The last events, newest first. */
  readonly events: readonly DemoEvent[];
  /** The number of all events. */
  readonly total: number;
  /** The applications, and whether they are open to the subject. */
  readonly apps: readonly {
    readonly name: string;
    readonly url: string;
    readonly how: string;
    readonly open: boolean;
  }[];
}

const SHOWN_EVENTS = 6;
const MAX_BODY_BYTES = 4096;
const ENROL = strictObject({
  subject: z.string(),
  name: z.string().max(200).optional(),
});
const REVOKE = strictObject({ relationship_id: z.string() });
/**
 * Other host names may resolve to this machine; only the login knows its own.
 */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Wraps a login with the demo: the page with the story, `GET /demo/state`,
 * `POST /demo/enrol` `{subject, name?}`, `POST /demo/revoke`
 * `{relationship_id}` and the issuer's four documents. The login answers all
 * other requests.
 *
 * @param config The requirements and scopes of a sign-in.
 */
export function wrapDemo(
  login: App,
  issuer: DemoIssuer,
  apps: readonly DemoApp[],
  config: Pick<PageConfig, "require" | "scopes">,
): App {
  const demo = new Hono();
  const passOn = (c: Context) => login.fetch(c.req.raw, c.env);
  demo.use("*", async (c, next) => {
    if (LOOPBACK.test(new URL(c.req.url).hostname)) return await next();
    return await passOn(c);
  });
  demo.notFound(passOn);
  demo.onError((error, c) => problemResponse(c, error));
  addPage(demo, "", {
    ...config,
    issuers: [{ did: issuer.did, base: "/ui/issuers/0/" }],
    issuer: issuer.did,
    signIn: LOGIN_ROUTES,
    consents: true,
    demo: true,
  });
  for (const path of Object.values(WELL_KNOWN_PATHS)) {
    const file = path.slice(path.lastIndexOf("/") + 1);
    // The page gets the current documents instead of the login's cached copy.
    for (const at of [path, `/ui/issuers/0/${file}`]) {
      demo.get(at, (c) => {
        const type = file.endsWith(".jsonl") ? "x-ndjson" : "json";
        return c.body(issuer.document(path)?.slice() ?? "", 200, {
          "content-type": `application/${type}`,
        });
      });
    }
  }
  demo.get("/demo/state", async (c) => {
    const subject = c.req.query("subject") ?? null;
    const known = issuer.lastOf(subject ?? "");
    const state: DemoState = {
      subject,
      relationship: known ?? null,
      events: issuer.events.slice(0, SHOWN_EVENTS),
      total: issuer.events.length,
      apps: await Promise.all(
        apps.map(async ({ name, url, how, isOpenTo }) => ({
          name,
          url,
          how,
          open: known !== undefined && await isOpenTo(subject ?? ""),
        })),
      ),
    };
    return c.json(state, 200, { "cache-control": "no-store" });
  });
  demo.post("/demo/enrol", async (c) => {
    const { subject, name } = readAs(ENROL, await readJson(c, MAX_BODY_BYTES));
    return c.json(await issuer.enrol(subject, name));
  });
  demo.post("/demo/revoke", async (c) => {
    const asked = readAs(REVOKE, await readJson(c, MAX_BODY_BYTES));
    return c.json(await issuer.revoke(asked.relationship_id));
  });
  return {
    fetch: async (request, info) => await demo.fetch(request, info ?? {}),
  };
}
