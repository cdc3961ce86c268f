/// <reference lib="dom" />
import { assert, assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import {
  browserTest,
  type Device,
  openPage,
  screenshot,
} from "./testdata/browser.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { approve, createKey, focused, start } from "./testdata/person.ts";
import { startServer } from "./testdata/server.ts";

/** Presses Tab until the focus is on a control with this text. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)).startsWith(text)) return;
  }
  throw new Error(`Cannot reach ${text} with the Tab key`);
}

browserTest("everything can be done with the keyboard", async (browser) => {
  await using server = await startServer({ withDemo: true });
  await using watched = await openPage(browser, server.origin);
  const { page } = watched;
  await page.keyboard.press("Tab");
  assertEquals(await focused(page), "Skip to the content");
  await page.keyboard.press("Enter");
  await tabTo(page, "Make my key");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Enrol me" }).waitFor();
  await page.locator("#main").focus();
  await tabTo(page, "Enrol me");
  await page.keyboard.press("Enter");
  await page.locator("#tour").getByRole("button", { name: "Start sign-in" })
    .waitFor();
  await page.waitForFunction(() =>
    document.activeElement?.textContent === "Start sign-in"
  );
  await page.keyboard.press("Enter");
  await page.locator("#request-card h3").waitFor();
  await tabTo(page, "Another request");
  await tabTo(page, "Approve and sign in");
  const outline = await page.locator("#approve").evaluate((element) =>
    getComputedStyle(element).outlineStyle
  );
  assertEquals(outline, "solid");
  await page.keyboard.press("Enter");
  await page.locator("#result-card h3").waitFor();
  assertEquals(await focused(page), "You are signed in");
  await tabTo(page, "Sign in again");
  await page.keyboard.press("Space");
  await page.locator("#approve").waitFor();
});

/** Every view and state that people see. */
async function visit(
  browser: Browser,
  device: Device,
  look: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  await using server = await startServer({ withDemo: true });
  await using watched = await openPage(browser, server.origin, { device });
  const { page } = watched;
  await look(page, "start");
  await createKey(page);
  await start(page, "profile email");
  await page.locator("#approve-card details summary").click();
  await look(page, "approve");
  // Nobody is hired here: a refusal with its explanation.
  await approve(page);
  await page.locator("#result-card .explanation").waitFor();
  await page.locator("#log summary").click();
  await look(page, "refused");
  await page.getByRole("button", { name: "Forget this key" }).click();
  await look(page, "forget");
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("link", { name: "Explore feeds" }).click();
  await page.locator("#own-documents > summary").click();
  await page.setInputFiles("#files", await feedFiles("history"));
  await page.locator("#relationships ol").waitFor();
  await page.fill("#ask-subject", "did:web:alice.example");
  await page.locator("#ask-form button[type=submit]").click();
  await page.locator("#answer-title").waitFor();
  await look(page, "explore");
  await page.setInputFiles("#files", await feedFiles("signature-flipped-bit"));
  await page.locator(".faults").waitFor();
  await look(page, "invalid");
}

/** Serious faults by axe-core's rules, WCAG 2.2 AA among them. */
async function findFaults(page: Page): Promise<readonly string[]> {
  if (!await page.evaluate(() => "axe" in globalThis)) {
    await page.evaluate(axe.source);
  }
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run()
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) =>
      `${id} at ${target.join(" ")}: ${failureSummary}`
    )
  );
}

const SCHEMES = ["light", "dark"] as const;

/** Controls that are lower than a finger needs. */
async function findSmallControls(page: Page): Promise<readonly string[]> {
  const controls = page.locator(
    ":is(button, select, summary, textarea, nav a, input:not([type=checkbox])):visible",
  );
  return await controls.evaluateAll((elements) =>
    elements.filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML)
  );
}

// Every state is looked at from all sides while it is there: coming to it
// takes longer than looking.
for (
  const [name, device, widths] of [
    ["a desk", { viewport: { width: 1280, height: 720 } }, [
      320,
      375,
      768,
      1440,
    ]],
    [
      "a phone",
      {
        viewport: { width: 375, height: 812 },
        isMobile: true,
        hasTouch: true,
      },
      [320, 375],
    ],
  ] as const
) {
  browserTest(
    `on ${name} axe finds nothing wrong, light or dark, nothing is wider than the screen, and fingers find the controls`,
    async (browser) => {
      await visit(browser, device, async (page, state) => {
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await screenshot(page, `${name}-${colorScheme}-${state}`);
          assertEquals(await findFaults(page), [], `${state}, ${colorScheme}`);
        }
        if (name === "a phone") {
          assertEquals(await findSmallControls(page), [], state);
        }
        for (const width of widths) {
          await page.setViewportSize({ ...device.viewport, width });
          const wide = await page.evaluate(() =>
            document.documentElement.scrollWidth
          );
          assert(wide <= width, `${state} is ${wide} of ${width} pixels wide`);
        }
        await page.setViewportSize(device.viewport);
      });
    },
  );
}

browserTest("dark and light follow the device", async (browser) => {
  await using server = await startServer();
  const grounds: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await using watched = await openPage(browser, server.origin, {
      device: { colorScheme },
    });
    grounds.push(
      await watched.page.locator("body").evaluate((body) =>
        getComputedStyle(body).backgroundColor
      ),
    );
  }
  assertEquals(grounds, ["rgb(246, 247, 249)", "rgb(17, 21, 27)"]);
});

browserTest("nothing moves where motion is not wanted", async (browser) => {
  await using server = await startServer();
  for (
    const [reducedMotion, duration] of [
      ["reduce", "0s"],
      ["no-preference", "0.12s"],
    ] as const
  ) {
    await using watched = await openPage(browser, server.origin, {
      device: { reducedMotion },
    });
    const found = await watched.page.locator("#start").evaluate((button) =>
      getComputedStyle(button).transitionDuration.split(",")[0]
    );
    assertEquals(found, duration);
  }
});
