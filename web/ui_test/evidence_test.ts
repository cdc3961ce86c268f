import { assertEquals } from "@std/assert";
import { type Evidence, makeEvidence } from "@sig/consumer";
import { locateIssuer } from "@sig/consumer/internal";
import type { Page } from "playwright-core";
import { publishProofs } from "../../tests/kit/proofs.ts";
import { ALICE, importTestKeys } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import {
  browserTest,
  eventually,
  openPage,
  shows,
} from "./testdata/browser.ts";
import {
  evidenceFile,
  testEvidence,
  testVerifierKey,
} from "./testdata/evidence_file.ts";
import { focused } from "./testdata/person.ts";
import { pageTest, startServer } from "./testdata/server.ts";

// promise: The page accepts evidence only with a key from the person or the
//   server's issuer.

async function bring(page: Page, evidence: Evidence): Promise<void> {
  await page.setInputFiles("#files", await evidenceFile(evidence));
}

async function enterKey(page: Page, vkey: string): Promise<void> {
  await page.fill("#evidence-key", vkey);
  await page.getByRole("button", { name: "Verify with this key" }).click();
}

const title = (page: Page) => page.locator("#evidence-title").innerText();

pageTest(
  "evidence is verified with the key that a person enters, and shown from question to key, also about an unknown subject; altered evidence is not shown",
  { hash: "#/explore" },
  async ({ page }) => {
    const vkey = await testVerifierKey();
    await bring(page, await testEvidence());
    await eventually(() => title(page), "Consistent, not proven");
    await eventually(() => focused(page), "Consistent, not proven");
    await enterKey(page, "no key");
    await eventually(() => title(page), "No verdict");
    await shows(page.locator("#evidence"), "Cannot read verifier key");
    await enterKey(page, vkey.replace("acme.example", "other.example"));
    await eventually(() => title(page), "No verdict");
    await enterKey(page, vkey);
    await eventually(() => title(page), "Proven");
    const links = page.locator(".chain > li");
    assertEquals(await links.locator("h3").allInnerTexts(), [
      ...["Question", "Answer", "Signed events about this subject"],
      ...["Path", "Checkpoint", "Key"],
    ]);
    await shows(links.nth(0), ALICE, "role=deploy", "acme.example");
    await shows(links.nth(1), "Deny", "revoked");
    await shows(links.nth(2), "#1", "joins as employee", "#62", "ends");
    await shows(links.nth(3), /\d+ hashes lead from there/);
    await shows(links.nth(4), "acme.example/.well-known/sig", "62 events");
    await shows(links.nth(5), vkey, "the key that you entered");
    // A feed replaces the evidence, and evidence replaces a feed.
    await page.setInputFiles("#files", {
      name: "feed.json",
      mimeType: "application/json",
      buffer: (await evidenceFile({} as Evidence)).buffer,
    });
    await eventually(
      () => page.locator("#verdict h2").innerText(),
      "No verdict",
    );
    await eventually(() => page.locator("#evidence").count(), 0);
    await bring(page, await testEvidence({ at: "2026-01-15T00:00:00Z" }));
    await shows(page.locator(".chain > li").nth(1), "Allow");
    assertEquals(await page.locator("#verdict").isVisible(), false);

    const evidence = await testEvidence({ subject: "did:web:nobody.example" });
    await bring(page, evidence);
    await eventually(() => title(page), "Consistent, not proven");
    await shows(page.locator(".chain > li").nth(2), "None.", "in the tree");
    const altered = { ...evidence, path: evidence.path.toReversed() };
    await bring(page, altered);
    await eventually(() => title(page), "Not proven");
    await shows(
      page.locator("#evidence"),
      "Cannot use evidence: the path does not lead to the checkpoint",
    );
    assertEquals(await page.locator(".chain").count(), 0);
    const hostile = await testEvidence();
    await bring(page, {
      ...hostile,
      question: { ...hostile.question, subject: "\u202e<b>x</b>" },
    });
    await eventually(() => title(page), "Not proven");
  },
);

browserTest(
  "evidence of an issuer that the server knows needs no key from the person",
  async (browser) => {
    const [key, other] = await importTestKeys();
    await using watched = await watchIssuer(3, key);
    const { lines, server } = watched;
    const { did, documents, origin } = server;
    await publishProofs(documents, { origin, keys: [key], lines });
    const policy = { allowPrivate: true };
    const question = { subject: ALICE, require: ["role=deploy"] };
    const evidence = await makeEvidence(
      locateIssuer(did, policy),
      { ...question, at: "2026-06-01T00:00:00Z" },
      { now: new Date() },
    );
    let now = Date.now();
    await using web = await startServer({
      ...{ issuers: [did], ...policy },
      now: () => new Date(now),
    });
    await using opened = await openPage(browser, web.origin, {
      hash: "#/explore",
    });
    const { page } = opened;
    await bring(page, evidence);
    await eventually(() => title(page), "Proven");
    await shows(page.locator(".chain > li").nth(5), "this server passed on");
    assertEquals(await page.locator("#evidence-key").count(), 0);
    // The issuer's documents no longer contain the key.
    watched.publishKeys([other]);
    now += 60_000;
    await bring(page, evidence);
    await eventually(() => title(page), "Not proven");
    await shows(
      page.locator("#evidence"),
      "no trusted key has signed the checkpoint",
    );
  },
);
