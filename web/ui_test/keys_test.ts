/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  signAttestation,
} from "@sig/jose";
import {
  browserTest,
  eventually,
  openPage,
  shows,
} from "./testdata/browser.ts";
import { approve, createKey, goTo, paste, start } from "./testdata/person.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { pageTest, startServer } from "./testdata/server.ts";

const now = () => new Date();

pageTest(
  "keys survive a reload, can't be exported, have names, and can be forgotten",
  {},
  async ({ page }) => {
    const did = await createKey(page);
    await page.reload();
    await page.getByRole("button", { name: "Forget this key" }).waitFor();
    const exported = await page.evaluate(async () => {
      const request = indexedDB.open("sig-sign-in");
      await new Promise((resolve) => request.onsuccess = resolve);
      const all = request.result.transaction("keys").objectStore("keys")
        .getAll();
      await new Promise((resolve) => all.onsuccess = resolve);
      request.result.close();
      const { privateKey, did } = all.result[0];
      const { subtle } = crypto;
      const outcomes = await Promise.allSettled([
        subtle.exportKey("jwk", privateKey),
        subtle.exportKey("pkcs8", privateKey),
        subtle.exportKey("raw", privateKey),
      ]);
      return [
        did,
        privateKey.extractable,
        ...outcomes.map(({ status }) => status),
      ];
    });
    assertEquals(exported, [did, false, "rejected", "rejected", "rejected"]);
    await page.getByText(/^Created \d{4}-.* in Chrome on Linux\.$/).waitFor();
    await page.getByLabel("Name").fill("Work laptop");
    await page.getByLabel("Name").blur();
    await createKey(page);
    await eventually(() => page.locator(".key").count(), 2);
    await page.reload();
    const old = page.locator(".key").nth(1);
    await eventually(() => old.getByLabel("Name").inputValue(), "Work laptop");
    await old.getByRole("button", { name: "Forget this key" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    await eventually(() => page.locator(".key").count(), 2);
    await old.getByRole("button", { name: "Forget this key" }).click();
    // A late event of an earlier dialog does not close this one.
    await page.getByRole("dialog").dispatchEvent("close");
    await shows(page.getByRole("dialog"), "Work laptop");
    await page.getByRole("button", { name: "Forget the key" }).click();
    await old.waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("button", { name: "Forget this key" }).click();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByRole("button", { name: "Create my key" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Create my key" }).waitFor();
  },
);
