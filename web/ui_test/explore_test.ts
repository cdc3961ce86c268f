/// <reference lib="dom" />
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { eventually, screenshot, shows } from "./testdata/browser.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { copied, focused, tabTo } from "./testdata/person.ts";
import { pageTest } from "./testdata/server.ts";
import { signedFeed } from "../../tests/kit/signed_feed.ts";

/** Opens a feed of the vectors, and waits for its people. */
async function bring(page: Page, vector: string): Promise<void> {
  await page.setInputFiles("#files", await feedFiles(vector));
  await page.locator("#people li").first().waitFor();
}

async function fault(page: Page): Promise<string> {
  return await page.locator("#verdict h2").innerText();
}

/** Pastes a text into the search box. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.focus("#find");
  await page.keyboard.press("ControlOrMeta+V");
}

/** Types into the search box and presses Enter. */
async function find(page: Page, text: string): Promise<void> {
  await page.fill("#find", text);
  await page.press("#find", "Enter");
}

function hash(page: Page): string {
  return new URL(page.url()).hash;
}

pageTest(
  "an issuer's people and counts, a person, an event and the integrity are places of their own",
  { hash: "#/explore" },
  async ({ page }) => {
    await eventually(() => page.textContent("h1"), "Explore a feed");
    await bring(page, "history");
    await eventually(() => page.textContent("h1"), "acme.example");
    await eventually(() => page.title(), "acme.example · SIG");
    await shows(
      page.locator("#verdict"),
      "Consistent, origin not proven",
      "10 events, your own files",
    );
    const people = page.locator("#people li");
    const count = await people.count();
    await page.getByRole("link", { name: "1 not yet", exact: true }).click();
    await page.getByText(new RegExp(`\\d+ of ${count} people`)).waitFor();
    await shows(people.first(), "not yet", "from 2027-01-01");
    // The filter is in the address, and can be seen and removed.
    assertEquals(hash(page), "#/explore/files?status=not_yet");
    await page.getByTitle("Show all people").click();
    await eventually(() => people.count(), count);
    await page.fill("#find", "nobody is called this");
    await page.getByRole("link", { name: "Show all" }).click();
    await eventually(() => people.count(), count);
    await eventually(() => page.inputValue("#find"), "");

    // A row can be reached and opened with the keyboard.
    await page.locator("h1").focus();
    await tabTo(page, "did:web:alice.example");
    await page.keyboard.press("Enter");
    // The heading takes the focus.
    await page.locator("#person h2:focus").waitFor();
    await eventually(
      () => page.title(),
      "did:web:alice.example · acme.example · SIG",
    );
    await shows(page.locator("#timeline li").last(), "joins as");
    await screenshot(page, "explore-person");
    await page.locator("#timeline a").first().click();
    await eventually(() => focused(page), "Event #10");
    assertEquals(hash(page), "#/explore/files/event/10");
    await shows(page.locator("#event pre").first(), '"sequence": 10');
    await page.getByText("The signed line 10").click();
    await shows(page.locator("#event details pre"), '"protected"');
    await page.getByRole("link", { name: "Previous" }).click();
    await eventually(() => focused(page), "Event #9");
    await find(page, "#3");
    await eventually(() => focused(page), "Event #3");
    await find(page, "99");
    await eventually(() => focused(page), "No such event");
    await page.goBack();
    await eventually(() => focused(page), "Event #3");

    await page.getByRole("link", { name: "keys and integrity" }).click();
    await shows(
      page.locator("#integrity"),
      /signed 10 events, #1 to #10/,
      "No warnings",
    );
    await page.getByRole("link", { name: "acme.example" }).click();
    await page.getByRole("link", { name: "All 10 events" }).click();
    await eventually(() => page.locator("#events li").count(), 10);
    await page.fill("#find", "carol");
    await page.getByText("1 of 10 events").waitFor();
  },
);

pageTest(
  "a question has its answer, its link and its command at the person; a name is no answer instead of a deny",
  { hash: "#/explore" },
  async ({ page }) => {
    await bring(page, "history");
    await find(page, "did:web:alice.example");
    const ask = page.locator("#ask-form");
    await ask.getByLabel("Requirement 1", { exact: true })
      .fill("relationship=employee");
    await ask.getByRole("button", { name: "Add a requirement" }).click();
    await ask.getByLabel("Requirement 2", { exact: true }).fill("role=deploy");
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "Allow");
    const answer = page.locator("#answer");
    await shows(
      answer,
      "rel-deploy",
      // The origin of files is not proven, so nothing is green.
      "consistent, origin not proven",
    );
    await page.locator('#answer .notice[data-kind="warning"]').waitFor();
    await answer.getByText("Why", { exact: true }).click();
    const why = await shows(
      answer,
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
    await answer.getByRole("button", { name: "the link to this answer" })
      .click();
    const link = await copied(page);
    assertEquals(link, page.url());
    assertEquals(
      new URL(link).hash,
      "#/explore/files/answer?subject=did%3Aweb%3Aalice.example" +
        "&require=relationship%3Demployee&require=role%3Ddeploy",
    );

    await find(page, "did:web:stranger.example");
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await eventually(() => focused(page), "Deny");
    await shows(answer, "no_relationship");
    await page.goto(
      page.url().replace(/#.*/, "#/explore/files/person/Alice"),
    );
    await eventually(() => focused(page), "No answer");
    await shows(page.locator(".notice"), "That is not a deny");
    await page.getByRole("link", { name: "did:web:alice.example" }).click();
    await eventually(() => focused(page), "did:web:alice.example");
  },
);

pageTest(
  "one clock governs every view, in amber unless it is now",
  { hash: "#/explore" },
  async ({ page }) => {
    await bring(page, "history");
    const clock = page.locator(".clock");
    assertEquals(await clock.getAttribute("data-kind"), null);
    await page.locator("#clock").click();
    const people = page.locator("#people li");
    for (const [date, count, deploys] of HISTORY_DATES) {
      await page.fill("#clock-date", date);
      await eventually(
        () => people.filter({ hasText: "active" }).count(),
        count,
      );
      await page.fill("#find", "deploy");
      await eventually(
        () => people.filter({ hasText: "active" }).count(),
        deploys,
      );
      await page.fill("#find", "");
    }
    await eventually(() => clock.getAttribute("data-kind"), "warning");
    // The clock stays while objects change.
    await page.fill("#clock-date", "2026-01-15");
    await find(page, "did:web:bob.example");
    await shows(clock, "2026-01-15 00:00:00 UTC");
    await page.locator("#ask-form button[type=submit]").click();
    await page.locator("#answer-title").waitFor();
    assert(hash(page).includes("at=2026-01-15T00%3A00%3A00Z"), hash(page));

    await page.locator("#clock-event").focus();
    await page.keyboard.press("Home");
    await shows(clock, "Event #1");
    await page.locator("#answer-title", { hasText: "Deny" }).waitFor();
    // The focus stays on the slider.
    await page.locator("#clock-event:focus").waitFor();
    await page.keyboard.press("End");
    await eventually(() => clock.getAttribute("data-kind"), null);
    await page.fill("#clock-time", "2026-04-20T00:00:00Z");
    await page.press("#clock-time", "Enter");
    await shows(clock, "2026-04-20 00:00:00 UTC");
    await page.fill("#clock-time", "yesterday");
    await page.press("#clock-time", "Enter");
    await page.getByText("No such moment").waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await eventually(() => clock.getAttribute("data-kind"), null);
  },
);

/**
 * The people of `history` with an active relationship by date, and those with
 * the role deploy.
 */
const HISTORY_DATES = [
  ["2026-01-02", 2, 1],
  ["2026-02-10", 3, 2],
  ["2026-03-03", 2, 0],
] as const;

pageTest(
  "keys that the feed links are one person, and names are those of the clock's date",
  { hash: "#/explore" },
  async ({ page }) => {
    const upsert = (
      subject: string,
      day: string,
      label: string,
      metadata: Readonly<Record<string, string>> = {},
    ) => ({
      event_type: "relationship.upsert" as const,
      relationship_id: subject.slice("did:web:".length),
      subject,
      relationship_type: "employee" as const,
      roles: ["deploy"],
      issued_at: `2026-01-${day}T00:00:00Z`,
      display: { label },
      metadata,
    });
    const laptop = "did:web:laptop.example";
    await paste(
      page,
      await signedFeed([
        upsert(laptop, "01", "Olga Klein"),
        upsert("did:web:phone.example", "05", "Olga Klein", {
          same_person_as: laptop,
        }),
        upsert(laptop, "09", "Olga Berg"),
        {
          event_type: "relationship.revoke",
          relationship_id: "phone.example",
          reason_code: "permission_revoked",
          effective_at: "2026-01-12T00:00:00Z",
          issued_at: "2026-01-12T00:00:00Z",
        },
      ]),
    );
    const people = page.locator("#people li");
    await eventually(() => people.count(), 1);
    await shows(people.first(), "Olga Berg", "2 keys", "active");
    await find(page, "berg");
    await shows(
      page.locator("#person"),
      "Olga Berg",
      /phone\.example\s+Copy\s+the DID\s+ended/,
      /laptop\.example\s+Copy\s+the DID\s+active/,
    );
    await page.goto(
      page.url().replace(
        /#.*/,
        `#/explore/files/person/${encodeURIComponent(laptop)}` +
          "?at=2026-01-06T00:00:00Z",
      ),
    );
    await eventually(
      () => page.locator("#person h2").innerText(),
      "Olga Klein",
    );
    await eventually(() => page.locator("#timeline li").count(), 2);
  },
);

pageTest(
  "an invalid feed is listed with code, line and event of its fault; unreadable documents get an explanation instead of a verdict",
  { hash: "#/explore" },
  async ({ page }) => {
    for (
      const [name, ...parts] of [
        ["signature-flipped-bit", "signature_invalid", "line 2", "event 2"],
        ["sequence-gap", "sequence_gap", "line 2", "event 3"],
      ] as const
    ) {
      await page.setInputFiles("#files", await feedFiles(name));
      await eventually(() => fault(page), "Not valid");
      await shows(page.locator(".faults > li").first(), ...parts);
    }
    await screenshot(page, "explore-invalid");
    for (
      const [text, words] of [
        ["{", "This is not one strict JSON object."],
        ['{"a":1,"a":2}', "This is not one strict JSON object."],
        ["{}", "Expected the members metadata, jwks and events"],
        ['{"events":""}', "sig.json is missing."],
      ] as const
    ) {
      await paste(page, text);
      await shows(page.locator("#verdict"), "No verdict", words);
      assertEquals(await page.locator("#people, #clock").count(), 0);
    }
  },
);

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
  "a long list shows 100 rows at a time, and the keyboard focus stays in place",
  { hash: "#/explore" },
  async ({ page }) => {
    await page.setInputFiles("#files", await peopleFile(250));
    const rows = page.locator("#people li");
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
    await page.fill("#find", "person 77");
    await page.getByText("1 of 250 people").waitFor();
    await page.fill("#find", "engineer");
    // A changed filter starts at the first rows.
    await eventually(() => rows.count(), 100);
    // Paper has no button.
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await eventually(() => rows.count(), 250);
  },
);

pageTest(
  "on a phone the first row is within 340 pixels, a row has two lines, and nothing is wider than the screen",
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
    const row = page.locator("#people li").first();
    await shows(row, "Person 1", /employee\s+deploy/, "active");
    const box = await row.boundingBox();
    assert(box !== null && box.y <= 340, `${box?.y}`);
    assert(box.height >= 44 && box.height <= 60, `${box.height}`);
    assert(box.x >= 0 && box.x + box.width <= 390);
    await row.click();
    await shows(page.locator("#person"), "did:web:p1.example", "deploy");
    await page.getByRole("button", { name: "the DID" }).first().click();
    assertEquals(await copied(page), "did:web:p1.example");
  },
);

pageTest("the page draws while a feed is verified, and shows the progress", {
  hash: "#/explore",
}, async ({ page }) => {
  const file = await peopleFile(1_000);
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
  await page.getByText("1,000 people").waitFor();
  const shares = await page.evaluate(() => [
    ...(globalThis as unknown as { seen: Set<number> }).seen,
  ]);
  assert(shares.length > 3, `${shares}`);
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
    await page.locator("#people li").first().waitFor();

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
  "a link to each kind of object opens what was seen in a fresh browser; a feed stays verified across views",
  { withDemo: true },
  async ({ page, origin }) => {
    const { host } = new URL(origin);
    const explore = `#/explore/${encodeURIComponent(host)}`;
    await page.getByRole("link", { name: "Verify this feed" }).click();
    await shows(page.locator("#verdict"), "Valid", `served by ${host}`);
    await eventually(() => page.textContent("h1"), host);
    await page.getByText("This feed has no people at this time").waitFor();
    // Events published meanwhile are read when the person reloads.
    const eve = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    await fetch(`${origin}/demo/enrol`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ subject: eve, name: "Eve" }),
    }).then(async (response) =>
      assertEquals(response.status, 200, await response.text())
    );
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("link", { name: /^Eve/ }).first().waitFor();
    // After a failure, the same documents are verified again.
    await page.route("**/events.jsonl", (route) => route.abort(), { times: 1 });
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("This server could not get events.jsonl").waitFor();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("link", { name: /^Eve/ }).first().waitFor();
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.locator(".explore").waitFor({ state: "detached" });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goBack();
    await page.getByRole("link", { name: /^Eve/ }).first().waitFor();
    assertEquals(requests.filter((url) => url.includes("/ui/issuers/")), []);

    const subject = encodeURIComponent(eve);
    for (
      const [path, selector, ...parts] of [
        [`/person/${subject}`, "#person", "Eve", "active"],
        ["/event/1", "#event", "Event #1", '"sequence": 1'],
        [
          `/answer?subject=${subject}&require=relationship%3Demployee`,
          "#answer",
          "Allow",
        ],
        [`/answer?subject=${subject}&require=role%3Dx`, "#answer", "Deny"],
        ["/integrity", "#integrity", "1 event"],
      ] as const
    ) {
      await page.goto("about:blank");
      await page.goto(`${origin}/${explore}${path}`);
      await shows(page.locator(selector), ...parts);
    }
    await page.goto(`${origin}/#/explore/other.example`);
    await page.getByText("This server does not serve").waitFor();
  },
);
