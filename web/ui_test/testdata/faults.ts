/// <reference lib="dom" />
/** Finds accessibility faults. @module */

import { assert, assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { screenshot } from "./browser.ts";

/**
 * Returns serious faults by axe-core's rules, including WCAG 2.2 AA.
 *
 * @param rules The only rules to check (default: all).
 */
export async function findFaults(
  page: Page,
  rules?: readonly string[],
): Promise<readonly string[]> {
  if (!await page.evaluate(() => "axe" in globalThis)) {
    await page.evaluate(axe.source);
  }
  // Without passed rules: describing and transferring them took longer than the
  // check.
  const violations = await page.evaluate(async (runOnly) => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    const options = { resultTypes: ["violations"] as ["violations"] };
    const { violations } = await run(
      runOnly ? { ...options, runOnly } : options,
    );
    return violations;
  }, rules && [...rules]);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) =>
      `${id} at ${target.join(" ")}: ${failureSummary}`
    )
  );
}

/** The rules of axe that depend on colours or on the width. */
const LOOKS = ["color-contrast", "scrollable-region-focusable", "target-size"];

/**
 * Checks a state from all sides, since reaching it takes longer than a check: a
 * desk in light, a phone in dark, and nothing wider than the screen.
 */
export async function inspect(page: Page, state: string): Promise<void> {
  const desk = page.viewportSize()!;
  await screenshot(page, `${state}-light`);
  assertEquals(await findFaults(page), [], state);
  for (const width of [768, 1440]) {
    await page.setViewportSize({ ...desk, width });
    await requireFitting(page, width, state);
  }
  await page.emulateMedia({ colorScheme: "dark" });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  for (const width of [320, 375]) {
    await cdp.send("Emulation.setDeviceMetricsOverride", {
      ...{ width, height: 812, deviceScaleFactor: 1, mobile: true },
    });
    await requireFitting(page, width, state);
    assertEquals(await findSmallControls(page), [], state);
  }
  await screenshot(page, `${state}-phone`);
  assertEquals(await findFaults(page, LOOKS), [], `${state} on a dark phone`);
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  await cdp.detach();
  await page.emulateMedia({ colorScheme: "light" });
  // Replaces the phone's size too.
  await page.setViewportSize({ ...desk, width: desk.width + 1 });
  await page.setViewportSize(desk);
}

async function requireFitting(page: Page, width: number, state: string) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert(wide <= width, `${state} is ${wide} of ${width} pixels wide`);
}

/** Returns the controls that are too low for a finger. */
async function findSmallControls(page: Page): Promise<readonly string[]> {
  const controls = page.locator(
    ":is(button, select, summary, textarea, nav a, input:not([type=checkbox], [type=file])):visible",
  );
  return await controls.evaluateAll((elements) =>
    elements.filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML)
  );
}
