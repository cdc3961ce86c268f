/// <reference lib="dom" />
/** Third-party libraries, a real browser, the real page. */

import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import {
  SECRET,
  sha256,
  TestProvider,
} from "../openid/testdata/test_provider.ts";
import { browserTest, newPage } from "./testdata/browser.ts";
import { createKey } from "./testdata/person.ts";
import {
  type RelyingSite,
  startHonoSite,
  startOpenidClientSite,
} from "./testdata/relying_sites.ts";

/**
 * Opens a site, approves if required, and returns the subject that it shows.
 */
async function visit(
  page: Page,
  { origin }: RelyingSite,
): Promise<{ readonly sees: string; readonly wasAsked: boolean }> {
  await page.goto(`${origin}/`);
  const wasAsked = isAsked(page);
  if (wasAsked) {
    await page.click("#approve");
    await page.waitForURL(`${origin}/`);
  }
  return { sees: await page.locator("body").innerText(), wasAsked };
}

function isAsked(page: Page): boolean {
  return new URL(page.url()).hash.startsWith("#/sign-in/");
}

browserTest(
  "openid-client and @hono/oidc-auth log a person in and out with the page",
  async (browser) => {
    const secret = await sha256(SECRET);
    await using first = startOpenidClientSite(secret);
    await using second = startHonoSite(secret);
    const sites = [first, second];
    await using provider = await TestProvider.start({
      clients: sites.map(({ client }) => client),
    });
    for (const site of sites) site.join(provider.origin);
    const page = await newPage(browser);
    try {
      await page.goto(`${provider.origin}/`);
      await page.waitForSelector("html[data-ready]");
      const sees = await createKey(page);
      const { relationship_id } = await provider.demo.enrol(sees, "Ann");

      assertEquals(await visit(page, first), { sees, wasAsked: true });
      // A signed-in person approves each application once.
      assertEquals(await visit(page, second), { sees, wasAsked: true });
      assertEquals(await visit(page, second), { sees, wasAsked: false });
      await page.goto(`${first.origin}/logout`);
      assertEquals(page.url(), `${first.origin}/bye`);

      // It refreshes its tokens at each request, and gets none after a
      // session's end.
      assertEquals(await visit(page, second), { sees, wasAsked: true });
      assertEquals(await visit(page, second), { sees, wasAsked: false });
      await provider.demo.revoke(relationship_id);
      await page.goto(`${second.origin}/`);
      assert(isAsked(page), page.url());
    } finally {
      await page.context().close();
    }
  },
);
