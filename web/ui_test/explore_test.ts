/// <reference lib="dom" />
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { eventually, screenshot, shows } from "./testdata/browser.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { copied, focused } from "./testdata/person.ts";
import { pageTest } from "./testdata/server.ts";
import { signedFeed } from "../../tests/kit/signed_feed.ts";

async function bring(page: Page, vector: string): Promise<string> {
  await page.setInputFiles("#files", await feedFiles(vector));
  return await verdict(page);
}

async function verdict(page: Page): Promise<string> {
  return await page.locator("#verdict h2").innerText();
}

async function pasteAll(page: Page, text: string): Promise<string> {
  await page.getByRole("button", { name: "Paste", exact: true }).click();
  await page.fill("#paste", text);
  await page.getByRole("button", { name: "Verify these documents" }).click();
  return await verdict(page);
}

async function tab(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name, exact: true }).click();
  await page.locator(".tabs [aria-current]", { hasText: name }).waitFor();
}

const ROWS = "table.rows tbody tr";

pageTest(
  "a valid feed is verified and listed, and answers questions",
  { hash: "#/explore" },
  async ({ page }) => {
    await eventually(() => page.textContent("h1"), "Explore a feed");
    assertEquals(await bring(page, "history"), "Valid");
    await eventually(() => focused(page), "Valid");
    await shows(page.locator("#verdict"), "10 events, 6 relationships");
    const rows = page.locator(ROWS);
    await eventually(() => rows.count(), 6);
    await page.selectOption("#people-status", "revoked");
    await page.getByText("1 of 6 relationships").waitFor();
    await eventually(() => rows.count(), 1);
    await page.selectOption("#people-status", "");
    await page.selectOption("#people-role", "deploy");
    await page.getByText("3 of 6 relationships").waitFor();
    await rows.first().getByRole("button").first().click();
    const dialog = page.getByRole("dialog");
    await shows(dialog, "joins as");
    await page.keyboard.press("Escape");
    await page.fill("#people-text", "nobody is called this");
    await page.getByRole("button", { name: "Show all" }).click();
    await eventually(() => rows.count(), 6);

    await tab(page, "Events");
    await eventually(() => rows.count(), 10);
    await rows.first().getByRole("button").first().click();
    await shows(dialog.locator("pre"), '"sequence": 10');
    await page.keyboard.press("Escape");
    await page.fill("#events-text", "carol");
    await page.getByText("1 of 10 events").waitFor();

    await tab(page, "Ask");
    const ask = page.locator("#ask-form");
    await page.fill("#ask-subject", "did:web:alice.example");
    await ask.getByRole("button", { name: "Add a requirement" }).click();
    await ask.getByLabel("Requirement 2", { exact: true }).fill("role=deploy");
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "Allow");
    const answer = page.locator("#answer");
    const why = await shows(
      answer,
      "rel-deploy",
      /role=deploy\s+met/,
      /active\s+by event #10/,
      /ended\s+by event #8/,
    );
    assert(
      /expired\s+by event #5 .*until 2026-07-01 00:00:00 UTC/.test(why),
      why,
    );
    await eventually(
      () => answer.locator(".copyable code").innerText(),
      "sig check --sig ./issuer --subject did:web:alice.example " +
        "--require relationship=employee --require role=deploy --explain",
    );
    await screenshot(page, "explore-allow");

    await ask.getByText("At another time").click();
    await page.fill("#ask-subject", "did:web:bob.example");
    await page.fill("#ask-as-of", "1");
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "Deny");
    await shows(answer, "no_relationship");
    await page.fill("#ask-as-of", "99");
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "No answer");
    await shows(answer, "the feed ends at 10");
  },
);

pageTest(
  "a slider and a date picker change the question's times and the answer",
  { hash: "#/explore" },
  async ({ page }) => {
    await bring(page, "history");
    await tab(page, "Ask");
    await page.fill("#ask-subject", "did:web:bob.example");
    const ask = page.locator("#ask-form");
    await ask.getByLabel("Requirement 1", { exact: true })
      .fill("relationship=contractor");
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "Allow");
    await ask.getByText("At another time").click();
    await page.locator("#as-of-slider").focus();
    await page.keyboard.press("Home");
    await page.locator("#answer-title", { hasText: "Deny" }).waitFor();
    await eventually(() => page.inputValue("#ask-as-of"), "1");
    // The focus stays on the slider.
    await page.locator("#as-of-slider:focus").waitFor();
    await page.keyboard.press("End");
    await page.locator("#answer-title", { hasText: "Allow" }).waitFor();
    await eventually(() => page.inputValue("#ask-as-of"), "");
    await page.getByLabel("Date and time, UTC").fill("2020-01-31T09:00:00");
    await eventually(() => page.inputValue("#ask-at"), "2020-01-31T09:00:00Z");
    await page.locator("#answer-title", { hasText: "Deny" }).waitFor();
    await page.fill("#ask-at", "2026-04-20T00:00:00Z");
    await eventually(
      async () =>
        (await page.getByLabel("Date and time, UTC").inputValue())
          .slice(0, 16),
      "2026-04-20T00:00",
    );
  },
);

pageTest("an invalid feed is listed with code, line and event of its fault", {
  hash: "#/explore",
}, async ({ page }) => {
  for (
    const [name, ...parts] of [
      ["signature-flipped-bit", "signature_invalid", "line 2", "event 2"],
      ["sequence-gap", "sequence_gap", "line 2", "event 3"],
    ] as const
  ) {
    assertEquals(await bring(page, name), "Not valid");
    await shows(page.locator(".faults > li").first(), ...parts);
  }
  await screenshot(page, "explore-invalid");
});

pageTest("unreadable documents get an explanation instead of a verdict", {
  hash: "#/explore",
}, async ({ page }) => {
  const cases: readonly (readonly [string, string])[] = [
    ["{", "This is not one strict JSON object."],
    ['{"a":1,"a":2}', "This is not one strict JSON object."],
    ["{}", "Expected the members metadata, jwks and events"],
    ['{"events":""}', "sig.json is missing."],
  ];
  for (const [text, words] of cases) {
    assertEquals(await pasteAll(page, text), "No verdict");
    await page.locator("#verdict", { hasText: words }).waitFor();
    assertEquals(await page.locator("#feed-views").count(), 0);
  }
});

/** A feed of `count` people, as a file. */
async function peopleFile(count: number) {
  const { Buffer } = await import("node:buffer");
  const feed = await signedFeed(
    Array.from({ length: count }, (_, i) => ({
      event_type: "relationship.upsert",
      relationship_id: `r-${i + 1}`,
      subject: `did:web:p${i + 1}.example`,
      relationship_type: "employee",
      roles: ["deploy"],
      display: { label: `Person ${i + 1}`, title: "Engineer" },
    })),
  );
  return {
    name: "feed.json",
    mimeType: "application/json",
    buffer: Buffer.from(feed),
  };
}

pageTest(
  "a long table shows 100 rows at a time, and the keyboard focus stays in place",
  { hash: "#/explore" },
  async ({ page }) => {
    await page.setInputFiles("#files", await peopleFile(250));
    const rows = page.locator(ROWS);
    await eventually(() => rows.count(), 100);
    // In natural order: 1, 2, 3 and not 1, 10, 100.
    await shows(rows.nth(1), "Person 2");
    const more = page.getByRole("button", { name: /^Show \d+ more$/ });
    await more.focus();
    await page.keyboard.press("Enter");
    await eventually(() => rows.count(), 200);
    await shows(page.locator(":focus"), "Person 101");
    await shows(more, "Show 50 more");
    await more.click();
    await eventually(() => rows.count(), 250);
    await shows(page.locator(":focus"), "Person 201");
    assertEquals(await more.count(), 0);
    await page.fill("#people-text", "person 77");
    await page.getByText("1 of 250 relationships").waitFor();
    await page.fill("#people-text", "engineer");
    // A changed filter starts at the first rows.
    await eventually(() => rows.count(), 100);
  },
);

pageTest(
  "on a phone the first row is within 300 pixels, and a row shows name, DID, type, roles and status",
  {
    hash: "#/explore",
    device: {
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
    },
  },
  async ({ page }) => {
    await page.setInputFiles("#files", await peopleFile(3));
    const row = page.locator(ROWS).first();
    await shows(row, "Person 1", "did:web:p1.example", /employee\s+deploy/);
    await shows(row, "active");
    const top = await row.boundingBox();
    assert(top !== null && top.y <= 300, `${top?.y}`);
    for (const cell of await row.locator("td").all()) {
      const box = await cell.boundingBox();
      assert(box !== null && box.x >= 0 && box.x + box.width <= 390);
    }
    await row.getByRole("button", { name: "the DID" }).click();
    assertEquals(
      await copied(page),
      "did:web:p1.example",
    );
    // Filters are closed at first.
    assert(!await page.locator("#people-status").isVisible());
    await page.getByRole("button", { name: "Filter" }).click();
    await page.selectOption("#people-status", "revoked");
    await page.getByText("No relationship matches").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await row.getByRole("button").first().click();
    const dialog = page.getByRole("dialog");
    await shows(dialog, "did:web:p1.example", "deploy", "joins as employee");
    await page.keyboard.press("Escape");
    await tab(page, "Events");
    await shows(row, "Person 3", /joins as employee\s+deploy/);
  },
);

/**
 * The content of `history`: relationships by date, and the subjects with the
 * role deploy.
 */
const HISTORY_DATES = [
  ["2026-01-02", 2, 1],
  ["2026-01-15", 4, 1],
  ["2026-02-10", 4, 2],
  ["2026-03-03", 4, 0],
] as const;

pageTest(
  "a date shows the relationships at its start",
  { hash: "#/explore" },
  async ({ page }) => {
    await bring(page, "history");
    const rows = page.locator(ROWS);
    await eventually(() => rows.count(), 6);
    for (
      const [date, count, deploys] of HISTORY_DATES
    ) {
      await page.fill("#people-date", date);
      await page.selectOption("#people-role", "");
      await eventually(() => rows.count(), count);
      await page.selectOption("#people-role", "deploy");
      await page.selectOption("#people-status", "active");
      await eventually(() => rows.count(), deploys);
      await page.selectOption("#people-status", "");
    }
  },
);

pageTest("the page draws while a feed is verified, and shows the progress", {
  hash: "#/explore",
}, async ({ page }) => {
  const file = await peopleFile(3_000);
  await page.evaluate(() => {
    const seen = new Set<number>();
    Object.assign(globalThis, { seen });
    const look = () => {
      const bar = document.querySelector("progress");
      if (bar) seen.add(bar.value);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.setInputFiles("#files", file);
  await page.getByText("3,000 events").first().waitFor();
  const shares = await page.evaluate(() => [
    ...(globalThis as unknown as { seen: Set<number> }).seen,
  ]);
  assert(shares.length > 10, `${shares}`);
  assert(shares.every((share) => share >= 0 && share <= 1), `${shares}`);
});

pageTest(
  "files can be dropped on the explorer",
  { hash: "#/explore" },
  async ({ page }) => {
    const files = (await feedFiles("history")).map(({ name, buffer }) => ({
      name,
      text: buffer.toString("utf8"),
    }));
    const dropped = await page.evaluateHandle((given) => {
      const data = new DataTransfer();
      for (const { name, text } of given) {
        data.items.add(new File([text], name));
      }
      return data;
    }, files);
    await page.locator(".explore").dispatchEvent("drop", {
      dataTransfer: dropped,
    });
    await eventually(() => verdict(page), "Valid");

    const folder = await Deno.makeTempDir();
    try {
      const large = `${folder}/events.jsonl`;
      await Deno.create(large).then((file) => file.close());
      await Deno.truncate(large, 1024 ** 3 + 1);
      await page.setInputFiles("#files", large);
      await page.getByText("events.jsonl is larger than 1 GiB").waitFor();
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

pageTest(
  "a known issuer is explored by a link, each question has a link, and the back button works",
  { withDemo: true },
  async ({ page, origin }) => {
    await page.getByRole("link", { name: "Verify this feed" }).click();
    await eventually(() => verdict(page), "Valid");
    assertEquals(new URL(page.url()).hash, "#/explore/0");
    await eventually(() => page.textContent("h1"), "Explore a feed");
    await page.getByText("This feed has no relationships yet").waitFor();
    // Events published meanwhile are read when the person reloads.
    await fetch(`${origin}/demo/enrol`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body:
        '{"subject":"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK","name":"Eve"}',
    }).then(async (response) =>
      assertEquals(response.status, 200, await response.text())
    );
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("button", { name: /^Eve/ }).waitFor();
    await page.goBack();
    await page.locator("#tour").waitFor();
    await eventually(() => page.locator(".explore").count(), 0);
    await page.getByRole("link", { name: "Explore", exact: true }).click();
    await page.locator(".explore").waitFor();
    await eventually(() => focused(page), "Explore a feed");
    await eventually(() => verdict(page), "Valid");

    const link = `${origin}/#/explore/0?tab=ask&subject=did%3Aweb%3Aa.example` +
      "&require=role%3Ddeploy&as_of=0";
    await page.goto(`${origin}/#/keys`);
    await page.goto(link);
    await page.locator("#answer").waitFor();
    await eventually(
      () => page.inputValue("#ask-subject"),
      "did:web:a.example",
    );
    await eventually(() => page.inputValue("#ask-as-of"), "0");
    await page.fill("#ask-as-of", "");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "Deny");
    await page.getByRole("button", { name: "the link to this question" })
      .click();
    assertEquals(
      await copied(page),
      `${origin}/#/explore/0?tab=ask&subject=did%3Aweb%3Aa.example` +
        "&require=role%3Ddeploy",
    );
    assertEquals(page.url(), await copied(page));
  },
);
