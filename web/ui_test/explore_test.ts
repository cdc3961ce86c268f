/// <reference lib="dom" />
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { type FeedVector, readOneFeedOfEach } from "../../tests/kit/vectors.ts";
import { browserTest, openPage, screenshot } from "./testdata/browser.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { focused } from "./testdata/person.ts";
import { startServer } from "./testdata/server.ts";
import { signedFeed } from "../../tests/kit/signed_feed.ts";

async function bring(
  page: Page,
  vector: FeedVector | string,
): Promise<string> {
  await page.setInputFiles("#files", await feedFiles(vector));
  return await verdict(page);
}

async function verdict(page: Page): Promise<string> {
  return await page.locator("#verdict-card h3").innerText();
}

async function pasteAll(page: Page, text: string): Promise<string> {
  await page.fill("#paste-all", text);
  await page.getByRole("button", { name: "Verify these documents" }).click();
  return await verdict(page);
}

browserTest("a valid feed is verified, listed and asked", async (browser) => {
  await using server = await startServer();
  await using watched = await openPage(browser, server.origin, {
    hash: "#explore",
  });
  const { page } = watched;
  assertEquals(await page.textContent("h1"), "Explore a feed");
  assertEquals(await bring(page, "history"), "Valid");
  assertEquals(await focused(page), "Verdict");
  const facts = await page.locator("#verdict-card").innerText();
  assert(facts.includes("10 events, 6 relationships"), facts);
  assertEquals(await page.locator("#relationships li[data-status]").count(), 6);
  assertEquals(await page.locator("#timeline > ol > li").count(), 10);
  const first = page.locator("#timeline > ol > li").first();
  await first.locator("summary").click();
  assert((await first.locator("pre").innerText()).includes('"sequence": 10'));

  await page.fill("#timeline-filter", "carol");
  await page.getByText("1 event.", { exact: true }).waitFor();

  const ask = page.locator("#ask-form");
  await page.fill("#ask-subject", "did:web:alice.example");
  await ask.getByRole("button", { name: "Add a requirement" }).click();
  await ask.getByLabel("Its value").nth(1).fill("deploy");
  await ask.getByRole("button", { name: "Ask", exact: true }).click();
  assertEquals(await focused(page), "Allow");
  const answer = page.locator("#answer");
  assert((await answer.innerText()).includes("rel-deploy"));
  assert((await answer.innerText()).includes("role=deploy met"));
  assertEquals(
    await answer.locator(".copyable code").innerText(),
    "sig check --sig ./issuer --subject did:web:alice.example " +
      "--require relationship=employee --require role=deploy --explain",
  );
  await screenshot(page, "explore-allow");

  await ask.getByText("At another time").click();
  await page.fill("#ask-subject", "did:web:bob.example");
  await page.fill("#ask-as-of", "1");
  await ask.getByRole("button", { name: "Ask", exact: true }).click();
  assertEquals(await focused(page), "Deny");
  assert((await answer.innerText()).includes("no_relationship"));
  await page.fill("#ask-as-of", "99");
  await ask.getByRole("button", { name: "Ask", exact: true }).click();
  assertEquals(await focused(page), "No answer");
  assert((await answer.innerText()).includes("the feed ends at 10"));
});

browserTest(
  "the verdict in the browser is that of the vectors",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin, {
      hash: "#explore",
    });
    const { page } = watched;
    for (const vector of readOneFeedOfEach()) {
      const { expected, name } = vector;
      // The page has the reader's defaults.
      if (expected.options !== undefined) continue;
      // Key set and feed lie elsewhere: not for people with four files.
      if (name === "metadata-other-paths") continue;
      await page.evaluate(() =>
        document.querySelector("#verdict-card")?.replaceChildren()
      );
      const found = await bring(page, vector);
      assertEquals(
        found,
        expected.result === "valid" ? "Valid" : "Not valid",
        name,
      );
      if (expected.result === "valid") continue;
      const fault = await page.locator(".faults > li").first().innerText();
      const { code, line, sequence } = expected;
      assert(fault.startsWith(code), `${name}: ${fault}`);
      if (line !== undefined) assert(fault.includes(`line ${line}`), name);
      if (sequence !== undefined) {
        assert(
          fault.includes(`event ${sequence}`),
          name,
        );
      }
    }
    await bring(page, "sequence-gap");
    await screenshot(page, "explore-invalid");
  },
);

browserTest(
  "documents that are no documents get a sentence, not a verdict",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin, {
      hash: "#explore",
    });
    const { page } = watched;
    const cases: readonly (readonly [string, string])[] = [
      ["{", "This is not one strict JSON object."],
      ['{"a":1,"a":2}', "This is not one strict JSON object."],
      ["{}", "Expected the members metadata, jwks and events"],
      ['{"events":""}', "sig.json is missing."],
    ];
    for (const [text, words] of cases) {
      assertEquals(await pasteAll(page, text), "No verdict");
      const card = await page.locator("#verdict-card").innerText();
      assert(card.includes(words), card);
      assert(await page.locator("#feed-views").isHidden());
    }
  },
);

browserTest("a large feed is shown a part at a time", async (browser) => {
  await using server = await startServer();
  await using watched = await openPage(browser, server.origin, {
    hash: "#explore",
  });
  const { page } = watched;
  const feed = await signedFeed(
    Array.from({ length: 250 }, (_, i) => ({
      event_type: "relationship.upsert",
      subject: `did:web:p${i}.example`,
      relationship_type: "employee",
    })),
  );
  assertEquals(await pasteAll(page, feed), "Valid");
  const items = page.locator("#timeline > ol > li");
  assertEquals(await items.count(), 100);
  const more = page.locator("#timeline > button");
  await more.click();
  assertEquals(await items.count(), 200);
  assertEquals(await more.innerText(), "Show 50 more");
  await more.click();
  assertEquals(await items.count(), 250);
  assert(await more.isHidden());
});

browserTest(
  "a known issuer is explored by a link, and the back button goes back",
  async (browser) => {
    await using server = await startServer({ withDemo: true });
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await page.getByRole("link", { name: "Open this feed" }).click();
    assertEquals(await verdict(page), "Valid");
    assertEquals(new URL(page.url()).hash, "#explore/0");
    assertEquals(await page.textContent("h1"), "Explore a feed");
    await page.goBack();
    // The address changes first, the view with the event that follows.
    await page.locator("#sign-in-view").waitFor();
    assertEquals(await page.textContent("h1"), "Sign in");
    assert(await page.locator("#explore-view").isHidden());
    await page.getByRole("link", { name: "Explore feeds" }).click();
    await page.locator("#explore-view").waitFor();
    assertEquals(await focused(page), "Explore a feed");
    await page.getByRole("button", { name: "Verify this feed" }).click();
    assertEquals(await verdict(page), "Valid");
    await page.goto(`${server.origin}/#explore/0`);
    assertEquals(await verdict(page), "Valid");
  },
);
