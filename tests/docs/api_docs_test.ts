/// <reference lib="dom" />
/** Tests of the API's page at `/docs` in a real browser. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "@sig/api";
import { browserTest } from "../../web/ui_test/testdata/browser.ts";
import { findFaults } from "../../web/ui_test/testdata/faults.ts";
import { serveLoopback } from "../kit/loopback.ts";
import { SHORT_FEED } from "../../api/testdata/example_feed.ts";

const TOKEN = "a-token-for-tests";
/** The folder for screenshots (default: none are taken). */
const SCREENSHOTS = Deno.env.get("SIG_SCREENSHOTS");

browserTest(
  "/docs sends requests to its service within its CSP, in all widths and colour schemes",
  async (browser) => {
    const app = createApp({ token: TOKEN });
    await using server = serveLoopback((request) => app.fetch(request));
    const { origin } = server;
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
          // Chromium logs every status from 400 on as an error.
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
        await page.locator("section").first().waitFor();
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

browserTest(
  "/docs shows every route, member, example and code as text, and the token field if required",
  async (browser) => {
    const open = createApp({ publicUrl: "https://a'b.example" });
    const closed = createApp({ token: TOKEN });
    let app = open;
    const context = await browser.newContext();
    const page = await context.newPage();
    await using server = serveLoopback((request) => app.fetch(request));
    const { origin } = server;
    const { paths, components } = await (await fetch(`${origin}/openapi.json`))
      .json();
    /** Returns the texts of a route's elements. */
    const textsOf = (id: string, what: string) =>
      page.locator(`section[aria-labelledby="${id}"] ${what}`)
        .allTextContents();

    await page.goto(`${origin}/docs#dumpState`);
    await page.locator("section").first().waitFor();
    assert(await page.locator("#dumpState").isVisible());
    for (const [path, methods] of Object.entries<object>(paths)) {
      const [[method, operation]] = Object.entries(methods) as [
        [string, {
          operationId: string;
          responses: { [status: string]: { description: string } };
        }],
      ];
      const id = operation.operationId;
      const title = `${method.toUpperCase()} ${path}`;
      assertEquals(await textsOf(id, "> h2"), [title]);
      const problems = Object.entries(operation.responses).filter(([status]) =>
        status !== "200"
      );
      assertEquals(
        (await textsOf(id, "> details:last-child dd")).join("\n"),
        problems.map(([, { description }]) => description).join("\n")
          .replaceAll("`", ""),
      );
    }
    const members = await textsOf("check", "dt > code");
    const { CheckRequest, CheckAnswer } = components.schemas;
    for (const { properties } of [CheckRequest, CheckAnswer]) {
      for (const name of Object.keys(properties)) {
        assert(members.includes(name));
      }
    }
    const [command = ""] = await textsOf("check", ".command code");
    assertStringIncludes(
      command,
      "curl -sS 'https://a'\\''b.example/v1/check'",
    );
    assert(!command.includes("Bearer"));
    const answers = (await textsOf("checkBatch", ".answer")).join();
    assertStringIncludes(answers, '"decision": "deny"');
    assertEquals(await page.getByLabel(/^Token/).count(), 0);

    app = closed;
    await page.reload();
    await page.getByLabel(/^Token/).waitFor();
    const [asked = ""] = await textsOf("check", ".command code");
    assertStringIncludes(asked, "Bearer $SIG_TOKEN");
    const [health = ""] = await textsOf("health", ".command code");
    assert(!health.includes("Bearer"));
    await context.close();
  },
);
