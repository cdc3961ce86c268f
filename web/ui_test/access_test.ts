/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import { eventually, shows } from "./testdata/browser.ts";
import { inspect } from "./testdata/faults.ts";
import { evidenceFile, testEvidence } from "./testdata/evidence_file.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import {
  approve,
  createKey,
  focused,
  goTo,
  openCommandLine,
  requireVisible,
  start,
  tabTo,
} from "./testdata/person.ts";
import { pageTest } from "./testdata/server.ts";

pageTest(
  "the demo plays all steps with the keyboard only: hired, signed in, let go, refused; approve and decline are visible without scrolling",
  { withDemo: true },
  async ({ page, origin }) => {
    const { host } = new URL(origin);
    /** One primary button at a time. */
    const primary = async (name: string) => {
      await page.locator("main .primary", { hasText: name }).waitFor();
      await eventually(() => page.locator("main .primary").count(), 1);
    };
    await primary("Create my key");
    await page.keyboard.press("Tab");
    await eventually(() => focused(page), "Skip to the content");
    await page.keyboard.press("Enter");
    await tabTo(page, "Create my key");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Enrol me" }).waitFor();
    // The focus is at the person's place rather than in the page's header.
    await eventually(() => focused(page), "Be hired");
    await primary("Enrol me");
    await tabTo(page, "Enrol me", 2);
    await page.keyboard.press("Enter");
    await primary("Approve");
    await eventually(() => focused(page), `${host} asks you to sign in`);
    for (const id of ["#approve", "#decline"]) await requireVisible(page, id);
    await tabTo(page, "Approve", 1);
    const outline = await page.locator("#approve").evaluate((element) =>
      getComputedStyle(element).outlineStyle
    );
    assertEquals(outline, "solid");
    await page.keyboard.press("Enter");
    await page.locator("#outcome").waitFor();
    await eventually(() => focused(page), "You are signed in");
    // A heading takes the focus for reading; an outline would make it look like
    // a control.
    const ring = await page.locator("#outcome").evaluate((element) =>
      getComputedStyle(element).outlineStyle
    );
    assertEquals(ring, "none");
    await shows(
      page.locator("#result .notice"),
      `employee of ${host}, checked now.`,
    );
    await shows(page.locator("#tour"), "Alice: employee");
    // The applications can be skipped.
    await primary("Open the shop");
    await tabTo(page, "Revoke me as the issuer would", 5);
    await page.keyboard.press("Space");
    await page.locator("#approve:enabled").waitFor();
    await eventually(() => focused(page), `${host} asks you to sign in`);
    await tabTo(page, "Approve", 1);
    await page.keyboard.press("Enter");
    await page.locator("#outcome", { hasText: "ended your employment" })
      .waitFor();
    await shows(
      page.locator(":focus"),
      new RegExp(
        `^${host} ended your employment at \\d\\d:\\d\\d \\(event #2\\)$`,
      ),
    );
    await primary("See it in the feed");
    await page.getByText("That is the whole idea.").waitFor();
    await shows(page.locator("#tour"), "Alice: employment ended");
    await tabTo(page, "See it in the feed", 1);
    await page.keyboard.press("Enter");
    await page.locator("#answer-title", { hasText: "Deny" }).waitFor();
  },
);

pageTest(
  "in every view and state axe finds no fault, light or dark, nothing is wider than the screen, and controls are large enough for touch",
  { withDemo: true },
  async ({ page }) => {
    await inspect(page, "start");
    await goTo(page, "#/keys");
    await page.getByRole("button", { name: "Create my key" }).waitFor();
    await inspect(page, "no-key");
    await createKey(page);
    await inspect(page, "keys");
    await page.getByRole("button", { name: "Forget this key" }).click();
    await inspect(page, "forget");
    await page.getByRole("button", { name: "Keep it" }).click();
    await goTo(page, "#/sign-in");
    await page.getByRole("button", { name: "Enrol me" }).click();
    await page.locator("#approve:enabled").waitFor();
    await start(page, { scopes: ["profile", "email"] });
    await openCommandLine(page);
    await inspect(page, "approve");
    await page.route("**/attestation/verify", (route) =>
      route.fulfill({
        status: 403,
        json: {
          code: "relationship_denied",
          detail: "a detail",
          reasons: [{ code: "no_relationship" }],
        },
      }), { times: 1 });
    await approve(page);
    await inspect(page, "unknown");
    await start(page);
    await approve(page);
    await page.getByText("checked now").waitFor();
    await inspect(page, "signed-in");
    await page.getByRole("button", { name: "Revoke me" }).click();
    await approve(page);
    await page.getByText("ended your employment").waitFor();
    await inspect(page, "refused");
    await page.getByRole("link", { name: "Explore", exact: true }).click();
    await page.setInputFiles("#files", await feedFiles("history"));
    await page.locator("#people li").first().waitFor();
    await inspect(page, "issuer");
    await page.locator("#clock").click();
    await inspect(page, "clock");
    await page.locator("#clock").click();
    await page.locator("#people a").first().click();
    await page.locator("#person").waitFor();
    await inspect(page, "person");
    await page.locator("#ask-form button[type=submit]").click();
    await page.locator("#answer-title").waitFor();
    await page.getByText("Why", { exact: true }).click();
    await inspect(page, "answer");
    await page.locator("#timeline a").first().click();
    await page.locator("#event").waitFor();
    await inspect(page, "event");
    await page.getByRole("link", { name: "keys and integrity" }).click();
    await page.locator("#integrity").waitFor();
    await inspect(page, "integrity");
    await page.locator("h1 a").click();
    await page.getByRole("link", { name: /^All \d+ events$/ }).click();
    await page.locator("#events").waitFor();
    await inspect(page, "events");
    await page.setInputFiles(
      "#files",
      await feedFiles("signature-flipped-bit"),
    );
    await page.locator(".faults").waitFor();
    await inspect(page, "invalid");
    await page.setInputFiles(
      "#files",
      await evidenceFile(await testEvidence()),
    );
    await page.locator(".chain").waitFor();
    await page.getByText("Hashes", { exact: true }).click();
    await inspect(page, "evidence");
  },
);

pageTest(
  "the colours follow the device, and nothing moves if it asks for reduced motion",
  {},
  async ({ page }) => {
    await page.locator("#approve").waitFor();
    for (
      const [colorScheme, reducedMotion, ground, duration] of [
        ["light", "reduce", "rgb(246, 247, 249)", "0s"],
        ["dark", "no-preference", "rgb(17, 21, 27)", "0.12s"],
      ] as const
    ) {
      await page.emulateMedia({ colorScheme, reducedMotion });
      const found = await page.evaluate(() => [
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector("#approve")!)
          .transitionDuration.split(",")[0],
      ]);
      assertEquals(found, [ground, duration]);
    }
  },
);
