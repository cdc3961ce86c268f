/// <reference lib="dom" />
import { assertEquals, assertMatch } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  signAttestation,
} from "@sig/jose";
import { eventually, shows } from "./testdata/browser.ts";
import {
  approve,
  askFor,
  createKey,
  focused,
  openCommandLine,
  outcome,
  paste,
  shownChallenge,
  start,
} from "./testdata/person.ts";
import { pageTest } from "./testdata/server.ts";

const now = () => new Date();

pageTest("an expired request can't be approved, and the page says so", {
  prepare: (page) => page.clock.install(),
}, async ({ page }) => {
  assertMatch(await page.locator(".digits").innerText(), /^(5:00|4:5\d)$/);
  await page.clock.fastForward(301_000);
  await page.getByText("The request has expired").waitFor();
  // The focus announces it.
  await eventually(() => focused(page), "The request has expired");
  assertEquals(await page.locator("#approve").count(), 0);
  await page.getByRole("button", { name: "Get a new request" }).click();
  await page.locator("#approve").waitFor();
});

pageTest(
  "an answer from the command line signs in once, and each refusal has its own text",
  {},
  async ({ page }) => {
    const key = await importSigningKey(await generateSigningKey());
    const challenge = JSON.parse(await shownChallenge(page));
    const attestation = await signAttestation({ challenge, key, now });
    assertEquals(
      await paste(page, "not an attestation"),
      "This is not an answer to the request",
    );
    // The request stays open: a valid answer may follow.
    await page.getByText("Answer this request again").click();
    assertEquals(await paste(page, attestation), "You are signed in");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await openCommandLine(page);
    assertEquals(
      await paste(page, attestation),
      "This request was answered before",
    );

    await start(page, { subject: await createKey(page) });
    const pinned = JSON.parse(await shownChallenge(page));
    const other = await signAttestation({
      challenge: { ...pinned, subject: null, message: undefined },
      key,
      now,
    });
    assertEquals(await paste(page, other), "The request is for another key");
  },
);

/** Responses of a server, with the heading, kind and text of the refusal. */
const REFUSALS = [
  [{ code: "challenge_used" }, "This request was answered before", "warning"],
  [
    { code: "unauthorized", detail: "Cannot go on: a detail" },
    "Cannot go on: a detail",
    "danger",
  ],
  [
    { ended: "key", reasons: [{ code: "revoked" }] },
    "The issuer ended this key",
    "danger",
    "Your other key still works",
  ],
  [
    {
      ended: "person",
      reasons: [{ code: "revoked" }],
      relationship: { relationship_type: "employee" },
    },
    "The issuer ended your employment",
    "danger",
    "Only the issuer",
  ],
] as const;

pageTest(
  "each refusal has an explanation, and a button to try again if that may help; a rejected request names the invalid value",
  {},
  async ({ page }) => {
    for (const [members, heading, kind, next = "A hint."] of REFUSALS) {
      const json = { code: "relationship_denied", hint: "A hint.", ...members };
      await page.route(
        "**/attestation/verify",
        (route) => route.fulfill({ status: 403, json }),
        { times: 1 },
      );
      await start(page);
      assertEquals(await approve(page), heading);
      await eventually(() => focused(page), heading);
      await page.getByText("Details", { exact: true }).click();
      const card = page.locator(".sign-in-card");
      await shows(card, json.code, next);
      assertEquals(
        await card.locator(".notice").getAttribute("data-kind"),
        kind,
      );
    }
    await start(page);
    await page.route("**/attestation/verify", (route) => route.abort(), {
      times: 1,
    });
    assertEquals(await approve(page), "This site does not answer");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("#approve").waitFor();
    assertEquals(await approve(page), "You are signed in");

    await askFor(page, { scopes: ['a"b'] });
    await eventually(
      () => outcome(page),
      "The server does not accept this request",
    );
    await shows(page.locator(".sign-in-card"), "/scopes/0");
    await page.route("**/challenge/create", (route) => route.abort());
    await page.reload();
    await eventually(() => outcome(page), "This site does not answer");
  },
);
