/** The real server on loopback, for the page's tests. @module */

import { type App, type AppOptions, createApp } from "@sig/web";
import type { Page } from "playwright-core";
import { serveLoopback } from "../../../tests/kit/loopback.ts";
import { browserTest, openPage, type PageOptions } from "./browser.ts";
import { startRunningDemo } from "../../testdata/running_demo.ts";

/** A page that a test opens, and its server. */
interface OpenedPage {
  readonly page: Page;
  readonly origin: string;
}

/** Defines a test with one watched page and a separate server. */
export function pageTest(
  name: string,
  options: NonNullable<Parameters<typeof startServer>[0] & PageOptions>,
  fn: (opened: OpenedPage) => Promise<void>,
): void {
  browserTest(name, async (browser) => {
    const { path, hash, device, also, prepare, ...others } = options;
    await using server = await startServer(others);
    const { origin } = server;
    await using watched = await openPage(browser, origin, {
      ...{ path, hash, device, also, prepare },
    });
    await fn({ page: watched.page, origin });
  });
}

/** A running server. */
export interface RunningServer extends AsyncDisposable {
  /** Its origin. */
  readonly origin: string;
}

/**
 * Starts `createApp` on any port; its audience is that address. With a demo it
 * starts the program like a user does, and takes no options.
 */
export async function startServer(
  { withDemo = false, ...options }: Partial<AppOptions> & {
    readonly withDemo?: boolean;
  } = {},
): Promise<RunningServer> {
  if (withDemo) return await startRunningDemo();
  const { promise: ready, resolve } = Promise.withResolvers<App>();
  const server = serveLoopback(async (request) =>
    await (await ready).fetch(request)
  );
  resolve(createApp({ audiences: [server.origin], ...options }));
  return server;
}
