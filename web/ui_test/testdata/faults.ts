/// <reference lib="dom" />
/** What is wrong for people who see, hear or touch otherwise. @module */

import { assert, assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { screenshot } from "./browser.ts";

/** Serious faults by axe-core's rules, WCAG 2.2 AA among them. */
export async function findFaults(page: Page): Promise<readonly string[]> {
  if (!await page.evaluate(() => "axe" in globalThis)) {
    await page.evaluate(axe.source);
  }
  // What is right is not asked for: describing it, and handing it over, took
  // more than the looking.
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

/** The devices that a state is looked at with, and the widths that it is tried at. */
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

/**
 * Looks at a state from all sides while it is there: coming to it takes longer
 * than looking. Nothing may be wrong, light or dark, nor wider than the screen.
 */
export async function inspect(
  page: Page,
  state: string,
  { widths, touch }: {
    readonly widths: readonly number[];
    /** Whether fingers must find the controls. */
    readonly touch: boolean;
  },
): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
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

/** Controls that are lower than a finger needs. */
async function findSmallControls(page: Page): Promise<readonly string[]> {
  const controls = page.locator(
    ":is(button, select, summary, textarea, nav a, input:not([type=checkbox], [type=file])):visible",
  );
  return await controls.evaluateAll((elements) =>
    elements.filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML)
  );
}
