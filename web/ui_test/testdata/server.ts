/** The real server on loopback, for the page's tests. @module */

import { type App, type AppOptions, createApp } from "@sig/web";
import { createDemoIssuer } from "../../demo/demo_issuer.ts";

/** A running server. */
export interface RunningServer extends AsyncDisposable {
  /** Its origin. */
  readonly origin: string;
}

/** Starts `createApp` on any port; its audience is that address. */
export async function startServer(
  options: Partial<AppOptions> & { readonly withDemo?: boolean } = {},
): Promise<RunningServer> {
  const { withDemo = false, ...appOptions } = options;
  const { promise: ready, resolve } = Promise.withResolvers<App>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => await (await ready).fetch(request),
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const demo = withDemo
    ? await createDemoIssuer({ origin, now: () => new Date() })
    : undefined;
  resolve(createApp({ audiences: [origin], demo, ...appOptions }));
  return {
    origin,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}
