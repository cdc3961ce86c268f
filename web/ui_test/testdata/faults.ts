/// <reference lib="dom" />
/** Finds accessibility faults. @module */

import { assert, assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { screenshot } from "./browser.ts";

/** Returns serious faults by axe-core's rules, including WCAG 2.2 AA. */
export async function findFaults(page: Page): Promise<readonly string[]> {
  if (!await page.evaluate(() => "axe" in globalThis)) {
    await page.evaluate(axe.source);
  }
  // Without passed rules: describing and transferring them took longer than the
  // check.
  const violations = await page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    return (await run({ resultTypes: ["violations"] })).violations;
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) =>
      `${id} at ${target.join(" ")}: ${failureSummary}`
    )
  );
}

/** The devices for checking a state, and the widths of each. */
export const DEVICES = [
  {
    name: "a desk",
    device: { viewport: { width: 1280, height: 720 } },
    widths: [320, 375, 768, 1440],
  },
  {
    name: "a phone",
    device: {
      viewport: { width: 375, height: 812 },
      isMobile: true,
      hasTouch: true,
    },
    widths: [320, 375],
  },
] as const;

const COLOR_SCHEMES = ["light", "dark"] as const;

/**
 * Checks a state from all sides, since reaching it takes longer than a check:
 * no fault in light or (on a desk) dark, and nothing wider than the screen.
 */
export async function inspect(
  page: Page,
  state: string,
  { widths, touch }: {
    readonly widths: readonly number[];
    /** Whether to check that controls are large enough for touch. */
    readonly touch: boolean;
  },
): Promise<void> {
  // The colours do not depend on the width.
  for (const colorScheme of touch ? ["light"] as const : COLOR_SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await screenshot(page, `${state}-${colorScheme}`);
    assertEquals(await findFaults(page), [], `${state}, ${colorScheme}`);
  }
  const before = page.viewportSize()!;
  for (const width of widths) {
    await page.setViewportSize({ ...before, width });
    const wide = await page.evaluate(() =>
      document.documentElement.scrollWidth
    );
    assert(wide <= width, `${state} is ${wide} of ${width} pixels wide`);
    if (touch) assertEquals(await findSmallControls(page), [], state);
  }
  await page.setViewportSize(before);
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
