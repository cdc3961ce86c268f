/// <reference lib="dom" />
import { assert, assertEquals, assertMatch } from "@std/assert";
import { browserTest, eventually, openPage } from "./testdata/browser.ts";
import {
  forged,
  fragmentOf,
  HOST,
  startInviting,
} from "./testdata/inviting_issuer.ts";
import { goTo, outcome } from "./testdata/person.ts";

const TERMS = ["--type", "contractor", "--role", "deploy"] as const;

browserTest(
  "without the issuer's keys the page says NOT VERIFIED, and declining signs nothing",
  async (browser) => {
    await using issuer = await startInviting(false);
    const link = await issuer.invite(...TERMS);
    await using watched = await openPage(browser, issuer.origin, {
      hash: fragmentOf(link),
    });
    const { page } = watched;
    await page.getByText("NOT VERIFIED").waitFor();
    await eventually(
      () => page.locator("h2").innerText(),
      `An invitation in the name of ${HOST}`,
    );
    assert(!(await page.locator("main").innerText()).includes("verified here"));
    await page.click("#decline");
    await eventually(() => outcome(page), "You declined");
    await page.getByRole("button", { name: "Back to the invitation" }).click();
    await page.getByText("NOT VERIFIED").waitFor();
    await goTo(page, "#/keys");
    await page.getByText("No key here yet").waitFor();
  },
);

browserTest(
  "an invitation of an unknown issuer is verified with opened documents, or on the command line",
  async (browser) => {
    await using issuer = await startInviting(false);
    await using watched = await openPage(browser, issuer.origin, {
      hash: fragmentOf(await issuer.invite(...TERMS)),
    });
    const { page } = watched;
    const document = (name: string) =>
      `${issuer.folder}/issuer/.well-known/${name}.json`;
    const all = ["sig", "jwks", "did"].map(document);
    await page.getByText("Verify it yourself").click();
    const ways = page.locator("#verify-yourself");
    assertMatch(
      await ways.locator(".copyable code").innerText(),
      /^sig accept \S+ --out answer\.json$/,
    );
    // The page sends no request before the person follows a link.
    await eventually(
      () =>
        ways.locator("a").evaluateAll((links) =>
          links.map((link) => link.getAttribute("href"))
        ),
      ["sig", "jwks", "did"].map((name) =>
        `https://${HOST}/.well-known/${name}.json`
      ),
    );
    await page.setInputFiles("#issuer-files", all.slice(0, 2));
    await ways.getByText("did.json is missing.").waitFor();
    assert(await page.getByText("NOT VERIFIED").isVisible());

    await page.setInputFiles("#issuer-files", all);
    const signedAsTheySay = page.getByText(
      `Signed according to the documents that you opened. That is ${HOST} only if you saved them from https://${HOST}`,
    );
    await signedAsTheySay.waitFor();
    assertEquals(await page.getByText("NOT VERIFIED").count(), 0);
    const inItsName = `An invitation in the name of ${HOST}`;
    await eventually(() => page.locator("h2").innerText(), inItsName);

    // Another key's signature is refused with opened documents too.
    await goTo(page, await forged());
    await page.setInputFiles("#issuer-files", all);
    await page.getByText(`${HOST} does not know this invitation’s key`)
      .waitFor();
    assertEquals(await page.locator("#approve").count(), 0);

    // Forged documents don't make an invitation trusted.
    await using forger = await startInviting(false);
    await goTo(page, fragmentOf(await forger.invite(...TERMS)));
    await page.setInputFiles(
      "#issuer-files",
      all.map((path) => path.replace(issuer.folder, forger.folder)),
    );
    await signedAsTheySay.waitFor();
    await eventually(() => page.locator("h2").innerText(), inItsName);
  },
);
