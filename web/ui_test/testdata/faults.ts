/// <reference lib="dom" />
/** What is wrong for people who see, hear or touch otherwise. @module */

import axe from "axe-core";
import type { Page } from "playwright-core";

/** Serious faults by axe-core's rules, WCAG 2.2 AA among them. */
export async function findFaults(page: Page): Promise<readonly string[]> {
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

/** Both looks. */
export const SCHEMES = ["light", "dark"] as const;

/** Controls that are lower than a finger needs. */
export async function findSmallControls(
  page: Page,
): Promise<readonly string[]> {
  const controls = page.locator(
    ":is(button, select, summary, textarea, nav a, input:not([type=checkbox], [type=file])):visible",
  );
  return await controls.evaluateAll((elements) =>
    elements.filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML)
  );
}
