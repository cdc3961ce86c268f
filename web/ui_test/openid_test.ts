import { assertEquals, assertMatch } from "@std/assert";
import { CALLBACK, TestProvider } from "../openid/testdata/test_provider.ts";
import { browserTest } from "./testdata/browser.ts";
import { createKey } from "./testdata/person.ts";

browserTest(
  "an application signs a person in by the card, and is told when they decline",
  async (browser) => {
    await using provider = await TestProvider.start();
    const context = await browser.newContext({
      permissions: ["clipboard-read", "clipboard-write"],
    });
    try {
      const page = await context.newPage();
      await page.route(
        "https://app.example/**",
        (route) => route.fulfill({ body: "the application" }),
      );
      await page.goto(`${provider.origin}/`);
      await page.waitForSelector("html[data-ready]");
      await provider.demo.enrol(await createKey(page), "Ann");

      await page.goto(await provider.authorizeUrl());
      assertMatch(page.url(), /\/#\/sign-in\/[A-Za-z0-9_-]{32}$/);
      assertEquals(
        await page.locator("#request h2").innerText(),
        "The App asks you to sign in",
      );
      await page.click("#decline");
      await page.waitForURL(`${CALLBACK}?**`);
      const declined = new URL(page.url()).searchParams;
      assertEquals(declined.get("error"), "access_denied");

      await page.goto(await provider.authorizeUrl());
      await page.click("#approve");
      await page.waitForURL(`${CALLBACK}?**`);
      const approved = new URL(page.url()).searchParams;
      assertMatch(approved.get("code") ?? "", /^[\w-]{20,}/);
      assertEquals(approved.get("error"), null);
    } finally {
      await context.close();
    }
  },
);
