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
  goTo,
  openByHand,
  outcome,
  paste,
  shownChallenge,
  start,
} from "./testdata/person.ts";
import { feedFiles } from "./testdata/feed_case.ts";
import { startServer } from "./testdata/server.ts";

const now = () => new Date();

browserTest(
  "a person signs in on first sight of one card, and sees what the site learned",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    assertEquals(await page.textContent("h1"), "Sign in");
    const { host } = new URL(server.origin);
    assertEquals(
      await page.locator("#request h2").innerText(),
      `${host} asks you to sign in`,
    );
    // Who has no key is told in one sentence, and gets one by approving.
    await page.getByText("Approving makes your key").waitFor();
    await page.locator("#details > summary").click();
    const details = await page.locator("#details").innerText();
    assert(details.includes("Nonce"), details);
    const message = await page.locator(".message").innerText();
    assert(message.includes(server.origin), message);
    assert(!(await page.locator("main").innerText()).includes("scope"));
    assertEquals(await approve(page), "You are signed in");
    assertEquals(await focused(page), "You are signed in");
    const card = await page.locator("main").innerText();
    assert(card.includes(`What ${host} learned`), card);
    await page.locator(".result .copy").click();
    const did = await page.evaluate(() => navigator.clipboard.readText());
    assertMatch(did, /^did:key:z6Mk/);
    await goTo(page, "#/keys");
    assertEquals(await page.locator(".key").count(), 1);
  },
);

browserTest(
  "the operator says what a login asks to learn, and people see it in words",
  async (browser) => {
    await using server = await startServer({ scopes: ["profile", "email"] });
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const card = await page.locator("#request").innerText();
    assert(card.includes("your name, as the issuer publishes it"), card);
    assert(!card.includes("scope"), card);
    await page.getByLabel("email").uncheck();
    assertEquals(await approve(page), "You are signed in");
    const learned = await page.locator(".result .learns").innerText();
    assert(learned.includes("your name") && !learned.includes("email"));
  },
);

browserTest(
  "less may be granted than was asked for, and developers see all that was sent",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    await createKey(page);
    await start(page, "profile email");
    await page.locator("#details > summary").click();
    const message = await page.locator(".message").innerText();
    assert(message.includes("You grant: email profile"), message);
    await page.getByLabel("email").uncheck();
    assertEquals(await approve(page), "You are signed in");
    const learned = await page.locator(".result .learns").innerText();
    assert(learned.includes("your name"), learned);
    assert(!learned.includes("email"), learned);
    const log = await page.locator("#log").innerText();
    assert(log.includes('"typ": "sig-attestation+jwt"'), log);
    assert(log.includes('"verified": true'), log);
  },
);

browserTest(
  "approve and decline are in view without scrolling, at a desk and on a phone",
  async (browser) => {
    await using server = await startServer({
      withDemo: true,
    });
    for (
      const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 844 },
      ]
    ) {
      await using watched = await openPage(browser, server.origin, {
        device: { viewport },
      });
      const { page } = watched;
      await page.getByRole("button", { name: "Make my key" }).click();
      await page.getByRole("button", { name: "Enrol me" }).click();
      for (const id of ["#approve", "#decline"]) {
        const box = await page.locator(id).boundingBox();
        assert(box !== null && box.y >= 0, id);
        assert(box.y + box.height <= viewport.height, `${id} ends below`);
      }
    }
  },
);

browserTest(
  "the demo tells the whole story: hired, in, let go, refused",
  async (browser) => {
    await using server = await startServer({ withDemo: true });
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const tour = page.locator("#tour");
    const { host } = new URL(server.origin);
    const press = (name: string) =>
      page.getByRole("button", { name, exact: true }).click();
    /** One thing to do at a time. */
    const primary = async (name: string) => {
      await page.locator("main .primary", { hasText: name }).waitFor();
      assertEquals(await page.locator("main .primary").count(), 1);
    };
    await screenshot(page, "demo-1-start");
    await primary("Make my key");
    await press("Make my key");
    await page.fill("#enrol-name", "Bob");
    await primary("Enrol me");
    await press("Enrol me");
    await primary("Approve");
    await screenshot(page, "demo-2-approve");
    assertEquals(await approve(page), "You are signed in");
    await page.getByText(
      `Bob, employee of ${host}, because of event #1, checked now.`,
    ).waitFor();
    assert((await tour.innerText()).includes("Bob: employee"));
    await screenshot(page, "demo-3-signed-in");
    // Who does not want to open them goes on.
    await primary("Open the shop");
    await press("Revoke me as the issuer would");
    await primary("Approve");
    const ended = new RegExp(
      `^${host} ended your employment at \\d\\d:\\d\\d \\(event #2\\)$`,
    );
    await approve(page);
    await page.locator("#outcome", { hasText: ended }).waitFor();
    await primary("See it in the feed");
    await page.getByText("That is the whole idea.").waitFor();
    assert((await tour.innerText()).includes("Bob: employment ended"));
    await screenshot(page, "demo-4-refused");
    // The feed knows where the story stands.
    await page.reload();
    await page.locator("#approve").waitFor();
    assertEquals(
      await tour.locator("[aria-current=step] strong").innerText(),
      "Try again",
    );
  },
);

browserTest(
  "an issuer that does not know the key is told as that, and the key's name can be sent to it",
  async (browser) => {
    await using server = await startServer({ withDemo: true });
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const did = await createKey(page);
    await start(page);
    const { host } = new URL(server.origin);
    assertEquals(await approve(page), `${host} does not know this key`);
    await page.getByRole("button", { name: "Copy your key’s name" }).click();
    assertEquals(
      await page.evaluate(() => navigator.clipboard.readText()),
      did,
    );
    // Nothing is offered that can't help.
    assertEquals(await page.getByRole("button", { name: /again/ }).count(), 0);
  },
);

browserTest(
  "keys stay over a reload, can't be read, have names, and can be forgotten",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const did = await createKey(page);
    await page.reload();
    await page.getByRole("button", { name: "Forget this key" }).waitFor();
    const exported = await page.evaluate(async () => {
      const request = indexedDB.open("sig-sign-in");
      await new Promise((resolve) => request.onsuccess = resolve);
      const all = request.result.transaction("keys").objectStore("keys")
        .getAll();
      await new Promise((resolve) => all.onsuccess = resolve);
      request.result.close();
      const { privateKey, did } = all.result[0];
      const { subtle } = crypto;
      const outcomes = await Promise.allSettled([
        subtle.exportKey("jwk", privateKey),
        subtle.exportKey("pkcs8", privateKey),
        subtle.exportKey("raw", privateKey),
      ]);
      return [
        did,
        privateKey.extractable,
        ...outcomes.map(({ status }) => status),
      ];
    });
    assertEquals(exported, [did, false, "rejected", "rejected", "rejected"]);
    await page.getByText(/^Made \d{4}-.* in Chrome on Linux\.$/).waitFor();
    await page.getByLabel("Name").fill("Work laptop");
    await page.getByLabel("Name").blur();
    await createKey(page);
    assertEquals(await page.locator(".key").count(), 2);
    await page.reload();
    const old = page.locator(".key").nth(1);
    assertEquals(await old.getByLabel("Name").inputValue(), "Work laptop");
    await old.getByRole("button", { name: "Forget this key" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    assertEquals(await page.locator(".key").count(), 2);
    await old.getByRole("button", { name: "Forget this key" }).click();
    assert(
      (await page.getByRole("dialog").innerText()).includes("Work laptop"),
    );
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

browserTest(
  "the key of a browser that knew only one is kept",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin);
    const { page } = watched;
    const did = await createKey(page);
    // As version 1 of the store had it.
    await page.evaluate(async () => {
      const done = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve) => {
          request.onsuccess = () => resolve(request.result);
        });
      const now = await done(indexedDB.open("sig-sign-in"));
      const [key] = await done(
        now.transaction("keys").objectStore("keys").getAll(),
      );
      now.close();
      await done(indexedDB.deleteDatabase("sig-sign-in"));
      const request = indexedDB.open("sig-sign-in", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("keys");
      const old = await done(request);
      const { did, publicJwk, privateKey, createdAt } = key;
      await done(
        old.transaction("keys", "readwrite").objectStore("keys")
          .put({ did, publicJwk, privateKey, createdAt }, "login"),
      );
      old.close();
    });
    await page.reload();
    await page.locator(".key .copy").click();
    assertEquals(
      await page.evaluate(() => navigator.clipboard.readText()),
      did,
    );
    await start(page);
    assertEquals(await approve(page), "You are signed in");
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
  await page.click("#decline");
  assertEquals(await outcome(page), "You declined");
  assertEquals(await focused(page), "You declined");
  assertEquals(await page.locator("#approve").count(), 0);
  assertEquals(sent, 0);
  // Nothing was signed, so no key was made.
  await goTo(page, "#/keys");
  await page.getByRole("button", { name: "Create my key" }).waitFor();
});

browserTest(
  "an expired request can't be approved, and says so",
  async (browser) => {
    await using server = await startServer();
    await using watched = await openPage(browser, server.origin, {
      prepare: (page) => page.clock.install(),
    });
    const { page } = watched;
    assertMatch(await page.locator(".digits").innerText(), /^(5:00|4:5\d)$/);
    await page.clock.fastForward(301_000);
    await page.getByText("The request has expired").waitFor();
    assertEquals(await page.locator("#approve").count(), 0);
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
    const challenge = JSON.parse(await shownChallenge(page));
    const attestation = await signAttestation({ challenge, key, now });
    assertEquals(
      await paste(page, "not an attestation"),
      "This is not an answer to the request",
    );
    // The request lasts: a better answer may follow.
    await page.getByText("Answer this request again").click();
    assertEquals(await paste(page, attestation), "You are signed in");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await openByHand(page);
    assertEquals(
      await paste(page, attestation),
      "This request was answered before",
    );

    await createKey(page);
    await goTo(page, "#/developers");
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
  ["relationship_denied", "This site does not let you in"],
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
      assertEquals(await focused(page), heading);
      await page.getByText("Details", { exact: true }).click();
      const card = await page.locator(".sign-in-card").innerText();
      assert(card.includes(code), card);
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
    await goTo(page, "#/developers");
    await page.fill("#scopes", 'a"b');
    await page.click("#start");
    assertEquals(
      await outcome(page),
      "The server does not take this request",
    );
    const card = await page.locator(".sign-in-card").innerText();
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
    await page.reload();
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
      const card = await page.locator("#request").innerText();
      assert(card.includes(words), card);
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
      await goTo(page, "#/keys");
      assert((await page.locator("main").innerText()).includes(words));
      await goTo(page, "#/explore");
      await page.setInputFiles("#files", await feedFiles("history"));
      const canVerify = what === "without IndexedDB";
      assertEquals(
        await page.locator("#verdict h2").innerText(),
        canVerify ? "Valid" : "No verdict",
      );
    },
  );
}
