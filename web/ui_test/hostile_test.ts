import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { eventually, shows } from "./testdata/browser.ts";
import { approve, createKey, goTo, outcome, start } from "./testdata/person.ts";
import { pageTest } from "./testdata/server.ts";
import { signedFeed } from "../../tests/kit/signed_feed.ts";

/** Becomes a script wherever text is interpreted as markup. */
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

/**
 * A direction mark, a hyphen, a filler, a joiner: characters that a screen
 * doesn't show.
 */
const HIDING = "alice\u202eexe\u00ad.\u3164nim\u200dda";
const BIDI = `${HIDING}\u0007`;
// deno-lint-ignore no-control-regex -- control characters are the point
const HIDDEN = /[\u202e\u00ad\u3164\u200d\u0007]/g;

/** Returns a text as the page must show it. */
function shown(text: string): string {
  return text.replace(
    HIDDEN,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Counts the elements that a payload would create as markup. */
async function strangers(page: Page): Promise<number> {
  return await page.locator(
    "main :is(script, iframe, style, math, object, [onerror], [onload], " +
      "[onfocus], [onpageshow], [srcdoc], a[href^=javascript], img)",
  ).count();
}

pageTest(
  "a feed's values are shown as text, whatever they contain",
  { hash: "#/explore" },
  async ({ page }) => {
    // Together, since showing each alone takes long; a subject is limited.
    const groups = [PAYLOADS.slice(0, 6), [...PAYLOADS.slice(6), HIDING]];
    const texts = groups.map((group) => group.join(" "));
    const feed = await signedFeed(
      texts.map((text, i) => ({
        event_type: "relationship.upsert",
        subject: text,
        relationship_id: `${i} ${text}`,
        relationship_type: "employee",
        roles: groups[i]!,
        display: { title: text, department: text, label: text },
        reason: text,
      })),
    );
    await page.setInputFiles("#files", {
      name: "feed.json",
      mimeType: "application/json",
      buffer: Buffer.from(feed),
    });
    await page.locator("#people li").first().waitFor();
    const hash = (path: string) =>
      page.evaluate((path) => location.hash = path, `#/explore/files${path}`);
    const see = async (path: string, selector: string, text: string) => {
      await hash(path);
      const found = await shows(page.locator(selector), shown(text));
      assert(!found.match(HIDDEN), text);
      assertEquals(await strangers(page), 0, `${path} ${text}`);
    };
    for (const [i, text] of texts.entries()) {
      await see(`/event/${i + 1}`, "#event", text);
      const encoded = encodeURIComponent(text);
      await hash(`?at=${encoded}`);
      await page.getByText("No such moment").waitFor();
      assertEquals(await strangers(page), 0, text);
      // The person and the answer are on one page.
      const query = new URLSearchParams([
        ["subject", text],
        ...groups[i]!.map((role) => ["require", `role=${role}`]),
      ]);
      await see(`/answer?${query}`, "#answer", text);
      await shows(page.locator("#answer-title"), "Allow");
      await shows(page.locator("#person"), shown(text));
    }
    const all = texts.join(" ");
    for (const list of ["?find=", "/events?find=", "?status="]) {
      await hash(list + encodeURIComponent(all));
      await page.locator(".counts").waitFor();
      assertEquals(await strangers(page), 0, list);
    }
    for (const text of texts) {
      await see("", "#people", text);
      await see("/events", "#events", text);
    }
    await hash(
      `/answer?subject=${encodeURIComponent(texts[1]!)}&require=role%3Dx`,
    );
    await page.locator("#answer").waitFor();
    assert(!(await page.locator("body").innerText()).match(HIDDEN));
    // A command with hidden characters can't be copied.
    assertEquals(await page.locator("#answer .copyable").count(), 0);
    assertEquals(await strangers(page), 0);
  },
);

pageTest(
  "a value of another type than text is not rendered as an element",
  {},
  async ({ page }) => {
    const element = {
      type: "img",
      tag: "img",
      props: { src: "x", onerror: "alert(1)", children: [] },
      key: null,
      constructor: null,
      dangerouslySetInnerHTML: { __html: "<img src=x onerror=alert(1)>" },
    };
    await page.route("**/attestation/verify", async (route) => {
      await route.fulfill({
        status: 403,
        json: {
          code: "relationship_denied",
          detail: "a detail",
          reasons: [{ code: element, sequence: element }],
          errors: [{ pointer: element, detail: element }],
        },
      });
    });
    await page.click("#approve");
    await page.locator("#outcome").waitFor();
    assertEquals(await strangers(page), 0);
    await page.route("**/challenge/create", async (route) => {
      const challenge = await (await route.fetch()).json();
      await route.fulfill({ json: { ...challenge, require: element } });
    });
    await page.reload();
    await page.locator("#request").waitFor();
    assertEquals(await strangers(page), 0);
    assertEquals(await page.locator("#approve").count(), 0);
  },
);

pageTest(
  "a request's values are shown as text, and an invalid request can't be signed",
  {},
  async ({ page }) => {
    await createKey(page);
    const texts = [...PAYLOADS, BIDI];
    const text = texts.join(" ");
    await page.route("**/challenge/create", async (route) => {
      await route.fulfill({
        json: {
          challenge_id: text,
          audience: text,
          nonce: text,
          scopes: texts,
          subject: text,
          require: texts,
          issued_at: new Date().toISOString(),
          expires_at: new Date(Date.now() + 60_000).toISOString(),
          message: `${text}\n${text}`,
        },
      });
    }, { times: 1 });
    await start(page);
    await page.getByText("Careful:").waitFor();
    await page.locator("#details > summary").click();
    await shows(page.locator("#request"), ...texts.map(shown));
    await page.getByText("This request must not be signed.").waitFor();
    assertEquals(await page.locator("#request button").count(), 0);
    assertEquals(await strangers(page), 0);
    assert(!(await page.locator("body").innerText()).match(HIDDEN));
  },
);

pageTest(
  "a request whose message is not the signed text is rejected",
  {},
  async ({ page }) => {
    await page.route("**/challenge/create", async (route) => {
      const response = await route.fetch({
        postData: '{"scopes":["profile"]}',
      });
      const challenge = await response.json();
      const message = challenge.message.replace("profile", "nothing more");
      await route.fulfill({ json: { ...challenge, message } });
    });
    await start(page);
    await page.getByText("This request must not be signed.").waitFor();
    await page.locator("#details > summary").click();
    const card = await shows(
      page.locator("#request"),
      "Cannot use challenge: /message does not say what would be signed",
    );
    assertEquals(await page.locator("#request button").count(), 0);
    assert(!card.includes("You grant:"), card);
  },
);

pageTest(
  "a server's response is shown as text, whatever it contains",
  {},
  async ({ page }) => {
    const texts = [...PAYLOADS, BIDI];
    const text = texts.join(" ");
    await page.route("**/attestation/verify", async (route) => {
      await route.fulfill({
        status: 403,
        json: {
          code: text,
          detail: text,
          hint: text,
          errors: texts.map((text) => ({ pointer: text, detail: text })),
          reasons: texts.map((code) => ({ code })),
        },
      });
    });
    assertEquals((await approve(page)).trim(), shown(text));
    await page.getByText("Details", { exact: true }).click();
    await shows(page.locator(".sign-in-card"), ...texts.map(shown));
    assertEquals(await strangers(page), 0);
    assert(!(await page.locator("body").innerText()).match(HIDDEN));
  },
);

pageTest(
  "an application's name is shown as text, and its URL can't run a script",
  {},
  async ({ page, origin }) => {
    const response = await fetch(`${origin}/v1/auth/challenge/create`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"scopes":["openid","groups"]}',
    });
    const challenge = await response.json();
    const text = [...PAYLOADS, BIDI].join(" ");
    await page.route("**/oidc/interaction/*", async (route) => {
      const client = { client_id: "app", client_name: text };
      await route.fulfill({
        json: route.request().method() === "GET"
          ? { client, challenge }
          : { redirect_to: "javascript:alert(1)" },
      });
    });
    await goTo(page, "#/sign-in/abc");
    await shows(page.locator("#request"), `${shown(text)} asks you to sign in`);
    assertEquals(await strangers(page), 0, text);
    await page.click("#approve");
    await eventually(() => outcome(page), "This site does not answer");
  },
);
