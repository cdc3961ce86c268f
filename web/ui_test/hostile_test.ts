import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { browserTest, openPage } from "./testdata/browser.ts";
import { approve, createKey, outcome } from "./testdata/person.ts";
import { startServer } from "./testdata/server.ts";
import { signedFeed } from "../../tests/kit/signed_feed.ts";

/** What becomes a script wherever text is taken for markup. */
const PAYLOADS: readonly string[] = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<a href=javascript:alert(1) autofocus onfocus=alert(1)>a</a>",
  '"><script>alert(1)</script>',
  "'-alert(1)-'",
  "</pre></code><body onpageshow=alert(1)>",
  "<style>*{background:url(http://127.0.0.1:1/)}</style>",
  "<form action=http://127.0.0.1:1/><button autofocus>a</button></form>",
  "<math><mtext></table></math><img src=x onerror=alert(1)>",
];

/** A direction, a hyphen, a filler, a joiner: what a screen doesn't show. */
const HIDING = "alice\u202eexe\u00ad.\u3164nim\u200dda";
const BIDI = `${HIDING}\u0007`;
// deno-lint-ignore no-control-regex -- control characters are the point
const HIDDEN = /[\u202e\u00ad\u3164\u200d\u0007]/g;

/** A text as the page must show it. */
function shown(text: string): string {
  return text.replace(
    HIDDEN,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The elements that a payload would make, had it become markup. */
async function strangers(page: Page): Promise<number> {
  return await page.locator(
    "main :is(script, iframe, style, math, object, [onerror], [onload], " +
      "[onfocus], [onpageshow], [srcdoc], a[href^=javascript], img)",
  ).count();
}

browserTest("what a feed says is text, whatever it says", async (browser) => {
  await using server = await startServer();
  await using watched = await openPage(browser, server.origin, {
    hash: "#explore",
  });
  const { page } = watched;
  const texts = [...PAYLOADS, HIDING];
  const feed = await signedFeed(
    texts.map((text, i) => ({
      event_type: "relationship.upsert",
      subject: text,
      relationship_id: `${i} ${text}`,
      relationship_type: "employee",
      roles: [text],
      display: { title: text, department: text, label: text },
      reason: text,
    })),
  );
  await page.fill("#paste-all", feed);
  await page.getByRole("button", { name: "Verify these documents" }).click();
  assertEquals(await page.locator("#verdict-card h3").innerText(), "Valid");
  const items = page.locator("#timeline > ol > li");
  for (const [i, text] of texts.entries()) {
    const item = items.nth(texts.length - 1 - i);
    await item.locator("summary").click();
    const visible = shown(text);
    assert((await item.innerText()).includes(visible), text);
    await page.fill("#ask-subject", text);
    await page.locator("#ask-form button[type=submit]").click();
    assertEquals(await page.locator("#answer-title").innerText(), "Allow");
  }
  assert(!(await page.locator("body").innerText()).match(HIDDEN));
  // A command that hides something is not for copying.
  assertEquals(await page.locator("#answer .copyable").count(), 0);
  assertEquals(await strangers(page), 0);
});

browserTest(
  "a request that says anything is text, and not for signing",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await createKey(page);
    for (const text of [...PAYLOADS, BIDI]) {
      await page.route("**/challenge/create", async (route) => {
        await route.fulfill({
          json: {
            challenge_id: text,
            audience: text,
            nonce: text,
            scopes: [text],
            subject: text,
            require: [text],
            issued_at: new Date().toISOString(),
            expires_at: new Date(Date.now() + 60_000).toISOString(),
            message: `${text}\n${text}`,
          },
        });
      }, { times: 1 });
      await page.click("#start");
      await page.getByText("Careful:").waitFor();
      const card = await page.locator("#request-card").innerText();
      assert(card.includes(shown(text)), card);
      await page.getByText("This request must not be signed.").waitFor();
      assertEquals(await page.locator("#approve-card button").count(), 0);
      assertEquals(await strangers(page), 0, text);
      await page.getByRole("button", { name: "Another request" }).click();
    }
    assert(!(await page.locator("body").innerText()).match(HIDDEN));
  },
);

browserTest(
  "a request whose message is not what would be signed is refused",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await createKey(page);
    await page.route("**/challenge/create", async (route) => {
      const response = await route.fetch();
      const challenge = await response.json();
      const message = challenge.message.replace("profile", "nothing more");
      await route.fulfill({ json: { ...challenge, message } });
    });
    await page.fill("#scopes", "profile");
    await page.click("#start");
    await page.getByText("This request must not be signed.").waitFor();
    const card = await page.locator("#approve-card").innerText();
    assert(
      card.includes(
        "Cannot use challenge: /message does not say what would be signed",
      ),
      card,
    );
    assertEquals(await page.locator("#approve-card button").count(), 0);
    const request = await page.locator("#request-card").innerText();
    assert(!request.includes("You grant:"), request);
  },
);

browserTest(
  "what a server answers is text, whatever it says",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await createKey(page);
    for (const text of [...PAYLOADS, BIDI]) {
      await page.route("**/attestation/verify", async (route) => {
        await route.fulfill({
          status: 403,
          json: {
            code: text,
            detail: text,
            hint: text,
            errors: [{ pointer: text, detail: text }],
            reasons: [{ code: text }],
          },
        });
      });
      await page.click("#start");
      await page.locator("#approve-card details summary").click();
      await page.fill("#attestation", "a.b.c");
      await page.getByRole("button", { name: "Send the answer" }).click();
      assertEquals((await outcome(page)).trim(), shown(text));
      assertEquals(await strangers(page), 0, text);
      await page.locator("#log[open], #log summary").first().click();
      await page.getByRole("button", { name: "Another request" }).click();
    }
    assert(!(await page.locator("body").innerText()).match(HIDDEN));
  },
);

browserTest(
  "scopes that look like markup are asked for, granted and shown as text",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await createKey(page);
    const scopes = "<img/src=x/onerror=alert(1)> <svg/onload=alert(1)>";
    await page.fill("#scopes", scopes);
    await page.click("#start");
    assertEquals(await approve(page), "You are signed in");
    const card = await page.locator("#result-card").innerText();
    for (const scope of scopes.split(" ")) assert(card.includes(scope), card);
    assertEquals(await strangers(page), 0);
  },
);

browserTest("another site's frame stays empty", async (browser) => {
  await using server = await startServer();
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () =>
      new Response(`<iframe src="${server.origin}/"></iframe>`, {
        headers: { "content-type": "text/html" },
      }),
  );
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${other.addr.port}/`);
    const frame = page.frames()[1];
    assert(frame !== undefined);
    await frame.waitForLoadState();
    assertEquals(await frame.locator("h1#page-title").count(), 0);
  } finally {
    await context.close();
    await other.shutdown();
  }
});
