/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
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
import {
  createKey,
  goTo,
  paste,
  removeEd25519,
  storedKeys,
} from "./testdata/person.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { pageTest, startServer } from "./testdata/server.ts";

// promise: Keys in the browser, also those of passkeys, can't be exported.

const now = () => new Date();

pageTest(
  "keys survive a reload, can't be exported, have names, and can be deleted",
  {},
  async ({ page }) => {
    const did = await createKey(page);
    await page.reload();
    await page.getByRole("button", { name: "Forget this key" }).waitFor();
    // Passkeys need a host name, and this is an address.
    assertEquals(
      await page.getByRole("button", { name: /passkey/ }).count(),
      0,
    );
    const exports = "rejected rejected rejected";
    assertEquals(await storedKeys(page), [{ did, exports }]);
    await page.getByText(
      /^Created \d{4}-.* in Chrome on Linux\. In this browser only\.$/,
    ).waitFor();
    await page.getByLabel("Name").fill("Work laptop");
    await page.getByLabel("Name").blur();
    await createKey(page);
    await eventually(() => page.locator(".key").count(), 2);
    await page.reload();
    const old = page.locator(".key").nth(1);
    // The key in use is marked, and the choice lasts.
    await shows(page.locator(".key").first(), "2. ", "signs your answers");
    await old.getByRole("button", { name: "Sign with this key" }).click();
    await shows(old, "1. ", "signs your answers");
    await page.reload();
    await shows(old, "1. ", "signs your answers");
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

const removeIndexedDb = (page: Page) =>
  page.addInitScript(
    `indexedDB.open = () => { throw new DOMException("no", "SecurityError"); };`,
  );

for (
  const [what, prepare, words] of [
    ["without Ed25519", removeEd25519, "can't sign with Ed25519"],
    [
      "without IndexedDB",
      removeIndexedDb,
      "does not let the page store anything",
    ],
  ] as const
) {
  browserTest(
    `a browser ${what} can sign in with the command line`,
    async (browser) => {
      await using server = await startServer();
      await using watched = await openPage(browser, server.origin, { prepare });
      const { page } = watched;
      await shows(page.locator("#request"), words);
      assertEquals(await page.locator("#approve").count(), 0);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download challenge.json" })
        .click();
      const file = await (await download).path();
      const challenge = JSON.parse(await Deno.readTextFile(file));
      const command = await page.locator(".by-command .copyable code")
        .innerText();
      assertEquals(
        command,
        "sig attest --challenge challenge.json --key alice.jwk",
      );
      const key = await importSigningKey(await generateSigningKey());
      const attestation = await signAttestation({ challenge, key, now });
      assertEquals(await paste(page, `${attestation}\n`), "You are signed in");
      // A valid feed must not be called invalid because the browser lacks
      // Ed25519.
      await goTo(page, "#/keys");
      await shows(page.locator("main"), words);
      await goTo(page, "#/explore");
      await page.setInputFiles("#files", await feedFiles("history"));
      const canVerify = what === "without IndexedDB";
      await shows(
        page.locator("#verdict"),
        canVerify ? "Consistent, origin not proven" : "No verdict",
      );
    },
  );
}
