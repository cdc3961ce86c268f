/// <reference lib="dom" />
/** The actions of a person on the page. @module */

import { assert } from "@std/assert";
import type { Page } from "playwright-core";
import { readRoute } from "../../ui/route.ts";

/** Opens a view of the page. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.waitForSelector(`html[data-view="${readRoute(hash).view}"]`);
}

/** Creates a key in this browser. */
export async function createKey(page: Page): Promise<string> {
  await goTo(page, "#/keys");
  await page.getByRole("button", { name: /^Create (my|another) key$/ }).click();
  await page.getByRole("button", { name: "Forget this key" }).first()
    .waitFor();
  await page.locator(".key .copy").first().click();
  return await copied(page);
}

/** Returns the text that the page copied last. */
export function copied(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Returns the DIDs of the stored keys, and how exporting each key ends. */
export function storedKeys(page: Page) {
  return page.evaluate(async () => {
    const request = indexedDB.open("sig-sign-in");
    await new Promise((resolve) => request.onsuccess = resolve);
    const all = request.result.transaction("keys").objectStore("keys")
      .getAll();
    await new Promise((resolve) => all.onsuccess = resolve);
    request.result.close();
    return await Promise.all(all.result.map(async ({ did, privateKey }) => {
      const outcomes = await Promise.allSettled(
        (["jwk", "pkcs8", "raw"] as const).map((format) =>
          crypto.subtle.exportKey(format as "jwk", privateKey)
        ),
      );
      return { did, exports: outcomes.map(({ status }) => status).join(" ") };
    }));
  });
}

/** Makes the browser's pages lack Ed25519. */
export async function removeEd25519(page: Page): Promise<void> {
  await page.addInitScript(
    `crypto.subtle.generateKey = () => Promise.reject(new DOMException("no", "NotSupportedError"));`,
  );
}

/**
 * Requests a challenge, with these members if any, and waits until it is shown.
 */
export async function start(page: Page, members?: object): Promise<void> {
  await askFor(page, members);
  await page.locator("#request").waitFor();
}

/** Requests a challenge, which the server may reject. */
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

/** Otherwise a previous outcome could be taken for the next one. */
async function markOldOutcome(page: Page): Promise<void> {
  await page.evaluate(() =>
    document.querySelector("#outcome")?.setAttribute("data-old", "")
  );
}

/** Opens the sections for answering on the command line. */
export async function openCommandLine(page: Page): Promise<void> {
  await page.locator("#details > summary").click();
  await page.getByText("Answer on the command line instead").click();
}

/** Returns the challenge that is shown, in the form for `sig attest`. */
export async function shownChallenge(page: Page): Promise<string> {
  await openCommandLine(page);
  await page.getByRole("button", { name: "Copy the request as JSON" }).click();
  return await copied(page);
}

/** Sends an answer that was signed elsewhere. */
export async function paste(page: Page, attestation: string): Promise<string> {
  await page.fill("#attestation", attestation);
  await markOldOutcome(page);
  await page.getByRole("button", { name: "Send the answer" }).click();
  return await outcome(page);
}

/** Returns the text of the focused element. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
}

/** Presses Tab until a control with this text has the focus. */
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

/** Asserts that a control is visible without scrolling, at a desk and a phone. */
export async function requireVisible(page: Page, id: string): Promise<void> {
  const desk = page.viewportSize()!;
  for (const size of [{ width: 390, height: 844 }, desk]) {
    await page.setViewportSize(size);
    const box = await page.locator(id).boundingBox();
    assert(box !== null && box.y >= 0, id);
    assert(box.y + box.height <= size.height, `${id} ends below ${size.width}`);
  }
}

/**
 * Adds a virtual authenticator, such as that of a phone or a password manager.
 */
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
