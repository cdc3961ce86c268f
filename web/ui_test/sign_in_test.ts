/// <reference lib="dom" />
import { assert, assertEquals, assertMatch } from "@std/assert";
import { eventually, shows } from "./testdata/browser.ts";
import {
  approve,
  copied,
  createKey,
  focused,
  goTo,
  outcome,
  start,
} from "./testdata/person.ts";
import { HOST, invitingTest } from "./testdata/inviting_issuer.ts";
import { pageTest } from "./testdata/server.ts";

pageTest(
  "a person signs in with one card, and sees what the site has learned",
  {},
  async ({ page, origin }) => {
    await eventually(() => page.textContent("h1"), "Sign in");
    const { host } = new URL(origin);
    await eventually(
      () => page.locator("#asks").innerText(),
      `${host} asks you to sign in`,
    );
    // A new key would be a second identity of a person with another device.
    await shows(page.locator("#request"), "a second identity");
    await page.getByText("I have a key on another device").click();
    await page.getByText("On that device open this page").waitFor();
    await page.getByRole("button", { name: "Make a new key and approve" })
      .waitFor();
    await page.locator("#details > summary").click();
    await shows(page.locator("#details"), "Nonce");
    await shows(page.locator(".message"), origin);
    assert(!(await page.locator("main").innerText()).includes("scope"));
    assertEquals(await approve(page), "You are signed in");
    await eventually(() => focused(page), "You are signed in");
    await shows(page.locator("main"), `What ${host} learned`);
    await page.locator("#result .copy").click();
    const did = await copied(page);
    assertMatch(did, /^did:key:z6Mk/);
    await goTo(page, "#/keys");
    await eventually(() => page.locator(".key").count(), 1);
    // With a key there is one way.
    await goTo(page, "#/sign-in");
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  },
);

pageTest("the scopes of --scope are shown in words, and fewer may be granted", {
  scopes: ["profile", "email", "offline_access"],
}, async ({ page }) => {
  const card = await shows(
    page.locator("#request"),
    "your name, if the issuer publishes it",
  );
  // What the site may do is not among what it learns.
  assertMatch(card, /It may\s+keep you signed in until you sign out/);
  assert(!card.includes("scope"), card);
  await page.locator("#details > summary").click();
  await shows(
    page.locator(".message"),
    "You grant: email offline_access profile",
  );
  await page.getByLabel("email").uncheck();
  assertEquals(await approve(page), "You are signed in");
  const learned = await shows(page.locator("#result .learns"), "your name");
  assert(!learned.includes("email"), learned);
});

invitingTest(
  "a refusal shows the published event and its time, from the server's response alone",
  { require: ["relationship=employee"] },
  async ({ page, issuer }) => {
    const documents: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/ui/issuers/")) documents.push(request.url());
    });
    const did = await createKey(page);
    await start(page);
    assertEquals(await approve(page), `${HOST} does not know this key`);
    await page.getByRole("button", { name: "Copy your key’s name" }).click();
    await eventually(
      () => copied(page),
      did,
    );
    // No action is offered that can't help.
    assertEquals(await page.getByRole("button", { name: /again/ }).count(), 0);

    const upsert = (...words: string[]) =>
      issuer.sig(
        ...["upsert", "--subject", did, "--relationship-id", "r-1"] as const,
        ...["--type", "employee", ...words],
      );
    await upsert("--valid-from", "2099-01-02T12:00:00Z");
    await start(page);
    assertEquals(
      await approve(page),
      `Your employment at ${HOST} begins on 2 January 2099 (event #1)`,
    );
    await upsert(
      ...["--valid-from", "2020-01-02T12:00:00Z"],
      ...["--valid-until", "2021-03-04T12:00:00Z"],
    );
    await start(page);
    assertEquals(
      await approve(page),
      `Your employment at ${HOST} ended on 4 March 2021 (event #2)`,
    );
    await issuer.sig(
      ...["revoke", "--relationship-id", "r-1"] as const,
      ...["--reason-code", "employment_ended"],
    );
    await start(page);
    assertMatch(
      await approve(page),
      RegExp(`^${HOST} ended your employment at \\d\\d:\\d\\d \\(event #3\\)$`),
    );
    assertEquals(documents, []);
  },
);

pageTest("declining sends nothing", {}, async ({ page }) => {
  let sent = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/verify")) sent++;
  });
  await page.click("#decline");
  await eventually(() => outcome(page), "You declined");
  await eventually(() => focused(page), "You declined");
  assertEquals(await page.locator("#approve").count(), 0);
  assertEquals(sent, 0);
  // Nothing was signed, so no key was created.
  await goTo(page, "#/keys");
  await page.getByRole("button", { name: "Create my key" }).waitFor();
});
