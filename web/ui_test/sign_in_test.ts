/// <reference lib="dom" />
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type ErrorCode, SigError, toProblem } from "@sig/core";
import {
  generateSigningKey,
  importSigningKey,
  signAttestation,
} from "@sig/jose";
import { browserTest, openPage, screenshot } from "./testdata/browser.ts";
import {
  approve,
  createKey,
  focused,
  outcome,
  paste,
  shownChallenge,
  start,
} from "./testdata/person.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { startServer } from "./testdata/server.ts";

const now = () => new Date();

browserTest(
  "a person signs in, and sees what the site learned",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    assertEquals(await page.textContent("h1"), "Sign in");
    const did = await createKey(page);
    assertMatch(did, /^did:key:z6Mk/);
    await start(page, "profile email");
    assertEquals(await focused(page), `${server.origin} asks you to sign in`);
    const message = await page.locator(".message").innerText();
    assert(message.includes("You grant: email profile"), message);
    // Less may be granted than was asked for.
    await page.getByLabel("email").uncheck();
    assertEquals(await approve(page), "You are signed in");
    assertEquals(await focused(page), "You are signed in");
    const facts = await page.locator("#result-card .facts").innerText();
    assert(facts.includes(did) && facts.includes("profile"), facts);
    assert(!facts.includes("email"), facts);
    await page.locator("#log summary").click();
    const log = await page.locator("#log-entries").innerText();
    assert(log.includes('"typ": "sig-attestation+jwt"'), log);
    assert(log.includes('"verified": true'), log);
  },
);

browserTest(
  "the demo tells the whole story: hired, in, let go, refused",
  async (browser) => {
    await using server = await startServer({ withDemo: true });
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const tour = page.locator("#tour");
    const press = (name: string) =>
      tour.getByRole("button", { name, exact: true }).click();
    await screenshot(page, "demo-1-start");
    await press("Make my key");
    await page.fill("#enrol-name", "Bob");
    await press("Enrol me");
    await press("Start sign-in");
    await screenshot(page, "demo-2-approve");
    assertEquals(await approve(page), "You are signed in");
    assert((await tour.innerText()).includes("Bob: employee"));
    await screenshot(page, "demo-3-signed-in");
    await press("Revoke me as the issuer would");
    await press("Start sign-in again");
    assertEquals(
      await approve(page),
      "The key is yours, but this site does not let you in",
    );
    await page.locator("#result-card .explanation").waitFor();
    const why = await page.locator("#result-card details").innerText();
    assert(why.includes("The relationship was revoked."), why);
    assert(why.includes("relationship=employee met"), why);
    await tour.getByText("That is the whole idea.").waitFor();
    assert((await tour.innerText()).includes("Bob: employment ended"));
    await screenshot(page, "demo-4-refused");
    // The feed knows where the story stands.
    await page.reload();
    await tour.getByRole("button", { name: "Start sign-in again" }).waitFor();
  },
);

browserTest(
  "the key stays over a reload, can't be read, and can be forgotten",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const did = await createKey(page);
    await page.reload();
    await page.getByRole("button", { name: "Forget this key" }).waitFor();
    assertEquals(await page.locator("#key-card code").innerText(), did);
    const exported = await page.evaluate(async () => {
      const { loadKey } = await import(`${location.origin}/ui/key_store.js`);
      const { privateKey } = await loadKey();
      const { subtle } = crypto;
      const outcomes = await Promise.allSettled([
        subtle.exportKey("jwk", privateKey),
        subtle.exportKey("pkcs8", privateKey),
        subtle.exportKey("raw", privateKey),
      ]);
      return [
        privateKey.extractable,
        ...outcomes.map(({ status }) => status),
      ];
    });
    assertEquals(exported, [false, "rejected", "rejected", "rejected"]);
    await page.getByRole("button", { name: "Forget this key" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    assertEquals(await page.locator("#key-card code").innerText(), did);
    await page.getByRole("button", { name: "Forget this key" }).click();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByRole("button", { name: "Create my key" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Create my key" }).waitFor();
  },
);

browserTest("declining sends nothing", async (browser) => {
  await using server = await startServer();
  await using watched = await openPage(browser, server.origin);
  const { page } = watched;
  let sent = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/verify")) sent++;
  });
  await createKey(page);
  await start(page);
  await page.click("#decline");
  assertEquals(await outcome(page), "You declined");
  // A new key does not bring the answered request back.
  await page.getByRole("button", { name: "Forget this key" }).click();
  await page.getByRole("button", { name: "Forget the key" }).click();
  await createKey(page);
  assertEquals(await page.locator("#approve").count(), 0);
  assertEquals(sent, 0);
});

browserTest(
  "an expired request can't be approved, and says so",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin, {
      prepare: (page) => page.clock.install(),
    });
    const { page } = watched;
    await createKey(page);
    await start(page);
    assertMatch(await page.locator(".digits").innerText(), /^(5:00|4:5\d)$/);
    await page.clock.fastForward(301_000);
    await page.getByText("The request has expired.").waitFor();
    assertEquals(await page.locator("#approve").count(), 0);
    assertEquals(await page.locator(".digits").innerText(), "expired");
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.locator("#approve").waitFor();
  },
);

browserTest(
  "an answer from the command line signs in once, and refusals are told apart",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const key = await importSigningKey(await generateSigningKey());
    await createKey(page);
    await start(page);
    const challenge = JSON.parse(await shownChallenge(page));
    const attestation = await signAttestation({ challenge, key, now });
    assertEquals(
      await paste(page, "not an attestation"),
      "This is not an answer to the request",
    );
    // The request lasts: a better answer may follow.
    assertEquals(await paste(page, attestation), "You are signed in");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await page.locator("#approve-card details summary").click();
    assertEquals(
      await paste(page, attestation),
      "This request was answered before",
    );

    await page.getByRole("button", { name: "Another request" }).click();
    await page.locator("#request-form summary").click();
    await page.getByLabel("Only my key may answer").check();
    await start(page);
    const pinned = JSON.parse(await shownChallenge(page));
    const other = await signAttestation({
      challenge: { ...pinned, subject: null, message: undefined },
      key,
      now,
    });
    assertEquals(await paste(page, other), "The request is for another key");
  },
);

/** What each refusal is called on the page. */
const REFUSALS: readonly (readonly [ErrorCode, string])[] = [
  ["challenge_expired", "The request has expired"],
  ["challenge_used", "This request was answered before"],
  ["challenge_burned", "This request was closed after too many wrong answers"],
  ["challenge_not_found", "The site does not know this request any more"],
  [
    "relationship_denied",
    "The key is yours, but this site does not let you in",
  ],
  ["audience_mismatch", "The answer is for another site"],
  ["nonce_mismatch", "The answer belongs to another request"],
  ["subject_mismatch", "The request is for another key"],
  ["scope_not_granted", "The answer grants more than was asked for"],
  ["attestation_time_invalid", "The answer's times are wrong"],
  ["attestation_signature_invalid", "The signature is not right"],
  ["invalid_attestation", "This is not an answer to the request"],
  [
    "algorithm_not_allowed",
    "The answer is signed in a way that this site refuses",
  ],
  ["typ_mismatch", "This token is something else than an answer"],
  ["invalid_header", "The answer's header is not right"],
  ["key_unresolvable", "The site could not get your public key"],
  ["rate_limited", "Too many requests at once"],
  ["overloaded", "The server is busy"],
  ["store_unavailable", "The server can't reach its memory"],
  ["internal", "Something broke on the server"],
  ["fetch_timeout", "The site could not ask the issuer"],
  ["feed_rolled_back", "What the issuer publishes can't be relied upon"],
  ["invalid_metadata", "What the issuer publishes can't be relied upon"],
  [
    "unsupported_spec_version",
    "What the issuer publishes can't be relied upon",
  ],
  ["line_too_long", "What the issuer publishes can't be relied upon"],
  ["feed_too_large", "The site could not ask the issuer"],
  ["body_too_large", "Cannot go on: a detail"],
  ["unauthorized", "Cannot go on: a detail"],
];

browserTest(
  "each refusal says what happened, and another try is offered",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await createKey(page);
    for (const [code, heading] of REFUSALS) {
      await page.route("**/attestation/verify", async (route) => {
        const problem = toProblem(
          new SigError(code, "Cannot go on: a detail", {
            context: { hint: "A hint." },
          }),
        );
        await route.fulfill({
          status: problem.status,
          contentType: "application/problem+json",
          body: JSON.stringify(problem),
        });
      }, { times: 1 });
      await start(page);
      assertEquals(await approve(page), heading);
      const card = await page.locator("#result-card").innerText();
      assert(card.includes(code), card);
      assertEquals(await focused(page), heading);
      await page.getByRole("button", { name: "Another request" }).click();
    }
    await start(page);
    await page.route("**/attestation/verify", (route) => route.abort(), {
      times: 1,
    });
    assertEquals(await approve(page), "The server did not answer");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("#approve").waitFor();
    assertEquals(await approve(page), "You are signed in");
  },
);

browserTest(
  "a request that the server refuses says which value is wrong",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await page.fill("#scopes", 'a"b');
    await page.click("#start");
    assertEquals(
      await outcome(page),
      "The server does not take this request",
    );
    const card = await page.locator("#result-card").innerText();
    assert(card.includes("/scopes/0"), card);
  },
);

browserTest(
  "without an answer from the server the page says so",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await page.route("**/challenge/create", (route) => route.abort());
    await page.click("#start");
    assertEquals(await outcome(page), "The server did not answer");
    await page.route("**/config.json", (route) => route.abort());
    await page.reload();
    await page.getByText("Reload this page to try again.").waitFor();
  },
);

for (
  const [what, script, words] of [
    [
      "without Ed25519",
      `crypto.subtle.generateKey = () => Promise.reject(new DOMException("no", "NotSupportedError"));`,
      "can't sign with Ed25519",
    ],
    [
      "without IndexedDB",
      `indexedDB.open = () => { throw new DOMException("no", "SecurityError"); };`,
      "does not let the page keep anything",
    ],
  ] as const
) {
  browserTest(
    `a browser ${what} is shown the way by the command line`,
    async (browser) => {
      await using server = await startServer();
      await using watched = await openPage(browser, server.origin, {
        prepare: async (page) => void await page.addInitScript(script),
      });
      const { page } = watched;
      const card = await page.locator("#key-card").innerText();
      assert(card.includes(words), card);
      await start(page);
      assertEquals(await page.locator("#approve").count(), 0);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download challenge.json" })
        .click();
      const file = await (await download).path();
      const challenge = JSON.parse(await Deno.readTextFile(file));
      const command = await page.locator(".by-hand .copyable code").innerText();
      assertEquals(
        command,
        "sig attest --challenge challenge.json --key alice.jwk",
      );
      const key = await importSigningKey(await generateSigningKey());
      const attestation = await signAttestation({ challenge, key, now });
      assertEquals(await paste(page, `${attestation}\n`), "You are signed in");
      // A good feed must not be called bad for what the browser lacks.
      await page.goto(`${server.origin}/#explore`);
      await page.setInputFiles("#files", await feedFiles("history"));
      const canVerify = what === "without IndexedDB";
      assertEquals(
        await page.locator("#verdict-card h3").innerText(),
        canVerify ? "Valid" : "No verdict",
      );
    },
  );
}
