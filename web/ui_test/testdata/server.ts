/** The real server on loopback, for the page's tests. @module */

import { type App, type AppOptions, createApp } from "@sig/web";
import { startRunningDemo } from "../../testdata/running_demo.ts";

/** A running server. */
export interface RunningServer extends AsyncDisposable {
  /** Its origin. */
  readonly origin: string;
}

/**
 * Starts `createApp` on any port; its audience is that address. With a demo it
 * is the program, as people start it, and takes no options.
 */
export async function startServer(
  { withDemo = false, ...options }: Partial<AppOptions> & {
    readonly withDemo?: boolean;
  } = {},
): Promise<RunningServer> {
  if (withDemo) return await startRunningDemo();
  const { promise: ready, resolve } = Promise.withResolvers<App>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => await (await ready).fetch(request),
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  resolve(createApp({ audiences: [origin], ...options }));
  return {
    origin,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}
