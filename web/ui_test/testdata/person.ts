/// <reference lib="dom" />
/** What a person does on the page, step by step. @module */

import type { Page } from "playwright-core";

/** Makes the key of this browser. */
export async function createKey(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Create my key" }).click();
  await page.getByRole("button", { name: "Forget this key" }).waitFor();
  return await page.locator("#key-card code").innerText();
}

/** Asks for a request, and waits until it is shown. */
export async function start(page: Page, scopes?: string): Promise<void> {
  if (scopes !== undefined) await page.fill("#scopes", scopes);
  await page.click("#start");
  await page.locator("#request-card h3").waitFor();
}

/** Approves, and waits for the outcome. */
export async function approve(page: Page): Promise<string> {
  await page.click("#approve");
  return await outcome(page);
}

/** The heading of the result. */
export async function outcome(page: Page): Promise<string> {
  return await page.locator("#result-card h3").innerText();
}

/** The challenge that is shown, as `sig attest` would be given it. */
export async function shownChallenge(page: Page): Promise<string> {
  await page.locator("#approve-card details summary").click();
  await page.getByRole("button", { name: "Copy the request as JSON" }).click();
  return await page.evaluate(() => navigator.clipboard.readText());
}

/** Sends an answer that was signed elsewhere. */
export async function paste(page: Page, attestation: string): Promise<string> {
  await page.fill("#attestation", attestation);
  await page.getByRole("button", { name: "Send the answer" }).click();
  return await outcome(page);
}

/** The element that has the focus, by its text. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
}
