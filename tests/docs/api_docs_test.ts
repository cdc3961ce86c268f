/// <reference lib="dom" />
/** The API's page at `/docs` in a real browser. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "@sig/api";
import { browserTest } from "../../web/ui_test/testdata/browser.ts";
import { findFaults } from "../../web/ui_test/testdata/faults.ts";
import { SHORT_FEED } from "../../api/openapi/example_feed.ts";

const TOKEN = "a-token-for-tests";
/** Where screenshots go, if somebody wants to look at them. */
const SCREENSHOTS = Deno.env.get("SIG_SCREENSHOTS");

browserTest(
  "/docs asks its own service within its policy, wide and narrow, light and dark",
  async (browser) => {
    const app = createApp({ token: TOKEN });
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => app.fetch(request),
    );
    const origin = `http://127.0.0.1:${server.addr.port}`;
    const faults: string[] = [];
    for (const width of [1280, 390]) {
      for (const colorScheme of ["light", "dark"] as const) {
        const place = `${width} ${colorScheme}`;
        const context = await browser.newContext({
          viewport: { width, height: width === 390 ? 844 : 800 },
          colorScheme,
        });
        await context.grantPermissions(["clipboard-read", "clipboard-write"]);
        const page = await context.newPage();
        page.on("console", (message) => {
          // Chromium reports every status from 400 on as an error.
          const isAnswer = /status of 4\d\d/.test(message.text());
          if (message.type() === "error" && !isAnswer) {
            faults.push(`${place}: ${message.text()}`);
          }
        });
        page.on("pageerror", (error) => faults.push(error.message));
        page.on("request", (request) => {
          if (!request.url().startsWith(`${origin}/`)) {
            faults.push(request.url());
          }
        });
        await page.goto(`${origin}/`);
        assertEquals(page.url(), `${origin}/docs`);
        const save = async (name: string) => {
          if (!SCREENSHOTS) return;
          const file = `api-docs-${name}-${width}-${colorScheme}.png`;
          await page.screenshot({ path: `${SCREENSHOTS}/${file}` });
        };
        await save("top");
        const wide = await page.evaluate(() =>
          document.documentElement.scrollWidth > innerWidth
        );
        if (wide) faults.push(`${place}: wider than the screen`);
        for (const fault of await findFaults(page)) {
          faults.push(`${place}: ${fault}`);
        }

        const section = page.locator('section:has(> h2[id="verify"])');
        await section.getByText("Try it here").click();
        const body = section.locator("textarea");
        await body.fill(JSON.stringify({ feed: SHORT_FEED }));
        const answer = section.locator("output");
        await section.getByRole("button", { name: "Send" }).click();
        await answer.getByText('"code": "unauthorized"').waitFor();
        await page.getByLabel(/^Token/).fill(TOKEN);
        await section.getByRole("button", { name: "Send" }).click();
        await answer.getByText('"valid": true').waitFor();
        await save("tried");

        await section.getByRole("button", { name: "Copy" }).first().click();
        const copied = await page.evaluate(() =>
          navigator.clipboard.readText()
        );
        assertStringIncludes(copied, `curl -sS '${origin}/v1/verify'`);
        await context.close();
      }
    }
    assertEquals(faults, []);
  },
);
