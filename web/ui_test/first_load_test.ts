import { assert } from "@std/assert";
import { browserTest, openPage } from "./testdata/browser.ts";
import { startServer } from "./testdata/server.ts";

const MAX_BYTES = 120 * 1024;
const MAX_REQUESTS = 8;

browserTest(
  `the first load needs at most ${MAX_BYTES} bytes and ${MAX_REQUESTS} requests, as a demo and straight into the explorer`,
  async (browser) => {
    await using server = await startServer({ withDemo: true });
    for (const hash of ["", "#/explore"]) {
      const sizes: Promise<readonly [string, number]>[] = [];
      await using watched = await openPage(browser, server.origin, {
        hash,
        prepare(page) {
          page.on("requestfinished", (request) =>
            sizes.push((async () => {
              const { responseBodySize, responseHeadersSize } = await request
                .sizes();
              return [request.url(), responseBodySize + responseHeadersSize];
            })()));
          return Promise.resolve();
        },
      });
      await watched.page.waitForLoadState("networkidle");
      const all = await Promise.all(sizes);
      const bytes = all.reduce((sum, [, size]) => sum + size, 0);
      const listed = all.map(([url, size]) => `${size} ${url}`).join("\n");
      // Checks that everything was counted: the script alone is larger than
      // this.
      assert(bytes > 40 * 1024, listed);
      assert(bytes <= MAX_BYTES, listed);
      assert(all.length >= 4 && all.length <= MAX_REQUESTS, listed);
    }
  },
);
