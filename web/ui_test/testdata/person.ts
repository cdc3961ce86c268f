/// <reference lib="dom" />
/** What a person does on the page, step by step. @module */

import type { Page } from "playwright-core";
import { readRoute } from "../../ui/route.ts";

/** Goes to a view of the page. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.waitForSelector(`html[data-view="${readRoute(hash).view}"]`);
}

/** Makes a key of this browser. */
export async function createKey(page: Page): Promise<string> {
  await goTo(page, "#/keys");
  await page.getByRole("button", { name: /^Create (my|another) key$/ }).click();
  await page.getByRole("button", { name: "Forget this key" }).first()
    .waitFor();
  await page.locator(".key .copy").first().click();
  return await page.evaluate(() => navigator.clipboard.readText());
}

/** Gets a new request, by these members if any, and waits until it is shown. */
export async function start(page: Page, members?: object): Promise<void> {
  await askFor(page, members);
  await page.locator("#request").waitFor();
}

/** Gets a new request, which the server may refuse. */
export async function askFor(page: Page, members?: object): Promise<void> {
  if (members !== undefined) {
    await page.route(
      "**/challenge/create",
      (route) => route.continue({ postData: JSON.stringify(members) }),
      { times: 1 },
    );
  }
  await goTo(page, "#/keys");
  await goTo(page, "#/sign-in");
}

/** Approves, and waits for the outcome. */
export async function approve(page: Page): Promise<string> {
  await markOldOutcome(page);
  await page.click("#approve");
  return await outcome(page);
}

/** The heading of the outcome. */
export async function outcome(page: Page): Promise<string> {
  return await page.locator("#outcome:not([data-old])").innerText();
}

/** An outcome that is there already must not be taken for the next one. */
async function markOldOutcome(page: Page): Promise<void> {
  await page.evaluate(() =>
    document.querySelector("#outcome")?.setAttribute("data-old", "")
  );
}

/** Opens the folds around answering by hand. */
export async function openByHand(page: Page): Promise<void> {
  await page.locator("#details > summary").click();
  await page.getByText("Answer on the command line instead").click();
}

/** The challenge that is shown, as `sig attest` would be given it. */
export async function shownChallenge(page: Page): Promise<string> {
  await openByHand(page);
  await page.getByRole("button", { name: "Copy the request as JSON" }).click();
  return await page.evaluate(() => navigator.clipboard.readText());
}

/** Sends an answer that was signed elsewhere. */
export async function paste(page: Page, attestation: string): Promise<string> {
  await page.fill("#attestation", attestation);
  await markOldOutcome(page);
  await page.getByRole("button", { name: "Send the answer" }).click();
  return await outcome(page);
}

/** The element that has the focus, by its text. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
}

/** Presses Tab until the focus is on a control with this text. */
export async function tabTo(
  page: Page,
  text: string,
  most = 40,
): Promise<void> {
  for (let presses = 0; presses < most; presses++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)).startsWith(text)) return;
  }
  throw new Error(`Cannot reach ${text} with the Tab key`);
}

/** Adds an authenticator such as a phone or a password manager has. */
export async function addAuthenticator(page: Page, hasPrf: boolean) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send(
    "WebAuthn.addVirtualAuthenticator",
    {
      options: {
        ...{ protocol: "ctap2", ctap2Version: "ctap2_1", hasPrf },
        ...{ transport: "internal", hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true },
      },
    },
  );
  return { cdp, authenticatorId };
}
