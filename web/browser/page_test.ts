/// <reference lib="dom" />
/** Keys and sign-ins in a real browser, with the page of `sigLogin`. */

import { assertEquals, assertMatch } from "@std/assert";
import { HonoSite } from "../hono/testdata/hono_site.ts";
import {
  browserTest,
  eventually,
  openPage,
} from "../ui_test/testdata/browser.ts";

import { copied } from "../ui_test/testdata/person.ts";

browserTest(
  "a person signs in with a key of the browser, until the relationship is revoked",
  async (browser) => {
    await using site = await HonoSite.start();
    await using opened = await openPage(browser, site.origin, {
      hash: "sig/login?rd=%2F%3Fa%3D1",
    });
    const { page } = opened;
    await page.click("#approve");
    await page.locator("#outcome", { hasText: "does not know this key" })
      .waitFor();
    await page.getByRole("button", { name: "Copy your key’s name" }).click();
    const did = await copied(page);
    assertMatch(did, /^did:key:z6Mk/);

    const { relationship_id } = await site.demo.enrol(did);
    await page.reload();
    await page.click("#approve");
    await page.waitForURL(`${site.origin}/?a=1`);
    await eventually(() => page.locator("body").textContent(), did);

    // No script can read the session's cookie.
    assertEquals(await page.evaluate(() => document.cookie), "");

    await site.demo.revoke(relationship_id);
    await page.reload();
    await eventually(() => page.locator("body").textContent(), "nobody");
  },
);
