/// <reference lib="dom" />
import { assertEquals, assertMatch } from "@std/assert";
import { keyFromPrf } from "../browser/passkey.ts";
import { browserTest, eventually, openPage } from "./testdata/browser.ts";
import {
  addAuthenticator,
  approve,
  copied,
  goTo,
  start,
  storedKeys,
} from "./testdata/person.ts";
import { startServer } from "./testdata/server.ts";

/** Opens a page on a host name: passkeys don't work on an address. */
async function openKeys(
  browser: Parameters<typeof openPage>[0],
  origin: string,
) {
  return await openPage(browser, origin.replace("127.0.0.1", "localhost"), {
    hash: "#/keys",
    device: {},
    prepare: () => Promise.resolve(),
  });
}

browserTest(
  "a passkey gives the same key after the storage was cleared",
  async (browser) => {
    await using server = await startServer({ hosts: ["localhost"] });
    await using first = await openKeys(browser, server.origin);
    const { page } = first;
    const { cdp, authenticatorId } = await addAuthenticator(page, true);
    await page.getByRole("button", { name: "Create a passkey" }).click();
    await eventually(() => page.locator(".key").count(), 1);
    const stored = await storedKeys(page);
    assertMatch(stored[0]!.did, /^did:key:z6Mk/);
    assertEquals(stored[0]!.exports, "rejected rejected rejected");
    await page.getByText("From a passkey: the same key on each device")
      .waitFor();
    for (let round = 0; round < 2; round++) {
      await page.evaluate(() => {
        indexedDB.deleteDatabase("sig-sign-in");
        localStorage.clear();
      });
      await page.reload();
      await page.getByText("No key here yet.").waitFor();
      await page.getByRole("button", { name: "Use my passkey" }).click();
      await eventually(() => page.locator(".key").count(), 1);
      assertEquals(await storedKeys(page), stored);
    }
    // It signs like any other key.
    await start(page);
    assertEquals(await approve(page), "You are signed in");
    await page.locator("#result .did .copy").first().click();
    const subject = await copied(page);
    assertEquals(subject, stored[0]!.did);
    await goTo(page, "#/keys");
    // The same passkey gives the same key, which keeps its name here.
    await page.getByLabel("Name").fill("Phone");
    await page.getByLabel("Name").blur();
    await page.getByRole("button", { name: "Use my passkey" }).click();
    await eventually(
      () => page.getByRole("button", { name: "Use my passkey" }).isEnabled(),
      true,
    );
    assertEquals(await page.getByLabel("Name").inputValue(), "Phone");
    assertEquals(await storedKeys(page), stored);
    // A second passkey gives another key, and replaces none.
    await page.getByRole("button", { name: "Create a passkey" }).click();
    await eventually(() => page.locator(".key").count(), 2);
    const dids = (await storedKeys(page)).map(({ did }) => did);
    assertEquals(new Set(dids).size, 2);
    const made = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
    assertEquals(made.credentials.length, 2);
  },
);

browserTest(
  "without PRF the page says so, and keys are stored in this browser",
  async (browser) => {
    await using server = await startServer({ hosts: ["localhost"] });
    await using opened = await openKeys(browser, server.origin);
    const { page } = opened;
    await addAuthenticator(page, false);
    await page.getByRole("button", { name: "Use my passkey" }).click();
    await page.getByText("No passkey was used.").waitFor();
    await page.getByRole("button", { name: "Create a passkey" }).click();
    await page.getByText("lacks PRF").waitFor();
    assertEquals(await page.locator(".key").count(), 0);
    await page.getByRole("button", { name: "Create my key" }).click();
    await page.getByText("In this browser only.").waitFor();
  },
);

Deno.test("the key derived from a passkey is that of docs/protocol.md §7.6", async () => {
  const text = await Deno.readTextFile(
    new URL("../../docs/protocol.md", import.meta.url),
  );
  const [, expected] =
    /### 7\.6 [^]*?32 zero bytes[^]*?`(did:key:[^`]+)`/.exec(text) ?? [];
  const { did, privateKey } = await keyFromPrf(new Uint8Array(32));
  assertEquals([did, privateKey.extractable], [expected, false]);
});
