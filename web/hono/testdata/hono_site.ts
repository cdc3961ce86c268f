/** A Hono application on loopback, and its issuer. */

import { Hono } from "hono";
import {
  type LoopbackServer,
  serveLoopback,
} from "../../../tests/kit/loopback.ts";
import { createDemoIssuer, type DemoIssuer } from "../../demo/demo_issuer.ts";
import { documentOf } from "../../openid/testdata/test_provider.ts";
import { requireRelationship, type SigEnv, sigLogin } from "../mod.ts";
import type { SigLoginOptions } from "../sig_login.ts";

/** A running application. */
export class HonoSite implements AsyncDisposable {
  origin = "";
  demo!: DemoIssuer;
  /** Makes the issuer fail every request. */
  issuerIsDown = false;
  skewMs = 0;
  readonly now = (): Date => new Date(Date.now() + this.skewMs);
  readonly #servers: LoopbackServer[] = [];

  /** Starts both; `options` override those of `sigLogin`. */
  static async start(
    options: Partial<SigLoginOptions> = {},
  ): Promise<HonoSite> {
    const site = new HonoSite();
    const issuer = serveLoopback((request) =>
      documentOf(site.issuerIsDown ? undefined : site.demo, request)
    );
    const { origin } = issuer;
    site.demo = await createDemoIssuer({ origin, now: site.now });
    const app = new Hono<SigEnv>();
    const server = serveLoopback((request) => app.fetch(request));
    site.origin = server.origin;
    site.#servers.push(issuer, server);
    const { did } = site.demo;
    const asked = { issuer: did, allowPrivate: true, now: site.now };
    app.route(
      "/",
      sigLogin({
        ...asked,
        audience: site.origin,
        require: ["relationship=employee"],
        recheckMs: 0,
        ...options,
      }),
    );
    app.use(
      "/deploy",
      requireRelationship({ ...asked, require: ["role=deploy"], maxAgeMs: 0 }),
    );
    app.use(
      "/page",
      requireRelationship({
        ...asked,
        require: ["role=ops"],
        maxAgeMs: 0,
        loginAt: "/sig/login",
      }),
    );
    app.get("/", (c) => c.text(c.get("sig")?.subject ?? "nobody"));
    app.get("/promote", (c) => {
      (c.get("sig")?.relationship?.roles as string[] | undefined)?.push("ops");
      return c.text("promoted");
    });
    app.get("/deploy", (c) => c.text("deployed"));
    app.get("/page", (c) => c.text("page"));
    return site;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
  }
}
