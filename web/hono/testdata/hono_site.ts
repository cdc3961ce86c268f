/** A Hono application on loopback, and its issuer. */

import { Hono } from "hono";
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
  #servers: Deno.HttpServer<Deno.NetAddr>[] = [];

  /** Starts both; `options` override those of `sigLogin`. */
  static async start(
    options: Partial<SigLoginOptions> = {},
  ): Promise<HonoSite> {
    const site = new HonoSite();
    const listen = (
      fetch: (request: Request) => Response | Promise<Response>,
    ) => {
      const server = Deno.serve({
        hostname: "127.0.0.1",
        port: 0,
        onListen() {},
      }, fetch);
      site.#servers.push(server);
      return `http://127.0.0.1:${server.addr.port}`;
    };
    const issuer = listen((request) =>
      documentOf(site.issuerIsDown ? undefined : site.demo, request)
    );
    site.demo = await createDemoIssuer({ origin: issuer, now: site.now });
    const app = new Hono<SigEnv>();
    site.origin = listen((request) => app.fetch(request));
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
    await Promise.all(this.#servers.map((server) => server.shutdown()));
  }
}
