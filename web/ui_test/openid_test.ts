/// <reference lib="dom" />
import { assertEquals, assertMatch } from "@std/assert";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import {
  CALLBACK,
  TestProvider,
  usualClients,
} from "../openid/testdata/test_provider.ts";
import {
  browserTest,
  eventually,
  newPage,
  openPage,
  shows,
} from "./testdata/browser.ts";
import { inspect } from "./testdata/faults.ts";
import { approve, createKey, focused, tabTo } from "./testdata/person.ts";
import { startServer } from "./testdata/server.ts";

browserTest(
  "an application signs a person in, receives a decline, and is listed until the approval is revoked; the person signs out by the button",
  async (browser) => {
    await using app = serveLoopback(() => new Response("goodbye"));
    const bye = `${app.origin}/bye`;
    const [entry, ...others] = await usualClients();
    await using provider = await TestProvider.start({
      clients: [{ ...entry, post_logout_redirect_uris: [bye] }, ...others],
    });
    const page = await newPage(browser);
    try {
      await page.route(
        "https://app.example/**",
        (route) => route.fulfill({ body: "the application" }),
      );
      await page.goto(`${provider.origin}/`);
      await page.waitForSelector("html[data-ready]");
      await provider.demo.enrol(await createKey(page), "Ann");

      await page.goto(await provider.authorizeUrl());
      assertMatch(page.url(), /\/#\/sign-in\/[A-Za-z0-9_.-]+$/);
      await eventually(
        () => page.locator("#asks").innerText(),
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

      await page.goto(`${provider.origin}/#/keys`);
      const consents = page.locator("#consents");
      await shows(
        consents,
        "The App",
        /Approved at \d\d:\d\d/,
        "your key’s name",
      );
      await inspect(page, "consents");
      await page.getByRole("button", { name: "Take the approval back" })
        .click();
      await shows(consents, "You have not approved any application.");
      // It is asked for again.
      await page.goto(await provider.authorizeUrl());
      await page.locator("#approve:enabled").waitFor();
      // Signed out by the page's own button.
      await page.goto(`${provider.origin}/#/keys`);
      await page.getByRole("link", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "You are signed out" }).waitFor();
      await page.goto(`${provider.origin}/#/keys`);
      await shows(consents, "You are not signed in here.");
      // Signed out by the application, which the page then returns to.
      await page.goto(await provider.authorizeUrl());
      await page.click("#approve");
      await page.waitForURL(`${CALLBACK}?**`);
      const query = new URLSearchParams({
        ...{ client_id: "app", post_logout_redirect_uri: bye },
      });
      await page.goto(`${provider.origin}/oidc/logout?${query}`);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL(bye);
      await page.goto(`${provider.origin}/#/keys`);
      await shows(consents, "You are not signed in here.");
    } finally {
      await page.context().close();
    }
  },
);

browserTest(
  "one key opens two applications, and one revocation closes both without a click",
  async (browser) => {
    await using server = await startServer({ withDemo: true });
    const { host } = new URL(server.origin);
    const { apps } = await (await fetch(`${server.origin}/demo/state`)).json();
    const also = apps.map(({ url }: { url: string }) => new URL(url).origin);
    await using watched = await openPage(browser, server.origin, { also });
    const { page } = watched;
    const step = () =>
      page.locator("#tour [aria-current=step] strong").innerText();
    await page.getByRole("button", { name: "Create my key" }).click();
    await page.getByRole("button", { name: "Enrol me" }).click();
    await page.locator("#approve:enabled").waitFor();
    await approve(page);
    await eventually(() => step(), "Open two applications");
    await eventually(() => page.locator("main .primary").count(), 1);

    /** Opens an application from the tour, with the keyboard. */
    const open = async (name: string) => {
      await page.bringToFront();
      await tabTo(page, `Open the ${name}`, 40);
      const [tab] = await Promise.all([
        page.context().waitForEvent("page"),
        page.keyboard.press("Enter"),
      ]);
      return tab;
    };
    const shop = await open("shop");
    await eventually(
      () => shop.locator("#request h2").innerText(),
      "Shop asks you to sign in",
    );
    await shop.click("#approve");
    await shop.getByRole("heading", { name: "Staff prices" }).waitFor();
    const wiki = await open("wiki");
    // The person had to approve nothing.
    await wiki.getByRole("heading", { name: "How we deploy" }).waitFor();
    for (const [tab, name] of [[shop, "shop"], [wiki, "wiki"]] as const) {
      await shows(tab.locator(".person"), /^Alice\s+employee\s+deploy$/);
      await inspect(tab, `app-${name}`);
    }
    await page.bringToFront();
    await page.getByText("you are in").nth(1).waitFor();
    await eventually(() => step(), "Be let go");
    await inspect(page, "apps-tour");

    await page.getByRole("button", { name: "Revoke me" }).click();
    const ended = `${host} ended your employment (event #2)`;
    await page.getByText("Both are closed.").waitFor();
    await eventually(() => focused(page), "Now watch, and click nothing");
    await inspect(page, "apps-tour-closed");
    for (const tab of [shop, wiki]) {
      await tab.getByRole("heading", { name: ended }).waitFor();
    }
    // Both have the same page for it.
    await inspect(shop, "app-closed");
    // Opened again, the login refuses.
    await wiki.getByRole("link", { name: "Sign in again" }).click();
    await wiki.locator("#approve:enabled").click();
    await wiki.locator("#outcome", { hasText: "ended your employment" })
      .waitFor();
    await tabTo(page, "Try to sign in again", 3);
    await page.keyboard.press("Enter");
    await eventually(() => step(), "Try again");
  },
);
