/// <reference lib="dom" />
/** What is wrong for people who see, hear or touch otherwise. @module */

import axe from "axe-core";
import type { Page } from "playwright-core";

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
