/// <reference lib="dom" />
import { generateSigningKey } from "@sig/jose";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { eventually, shows } from "./testdata/browser.ts";
import { inspect } from "./testdata/faults.ts";
import {
  forged,
  HOST,
  invitingTest,
  startInviting,
} from "./testdata/inviting_issuer.ts";
import {
  copied,
  createKey,
  focused,
  goTo,
  outcome,
  removeEd25519,
  requireVisible,
  tabTo,
} from "./testdata/person.ts";
import { pageTest } from "./testdata/server.ts";

/** Returns the text that the button Copy copies. */
async function copiedAnswer(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Copy the answer" }).click();
  return await copied(page);
}

const heading = (page: Page) => page.locator("h2").innerText();

invitingTest(
  "an invitation of sig invite is answered on the page, and sig enrol accepts the answer",
  {},
  async ({ page, issuer, open }) => {
    const asked: string[] = [];
    page.on("request", (request) => {
      asked.push(request.url(), request.postData() ?? "");
    });
    const hash = await issuer.offer(
      ...["--for", "Alice Doe", "--valid-until", "2099-06-30"],
    );
    await goTo(page, hash);
    await page.getByText(`Signed by ${HOST}, verified here`).waitFor();
    await eventually(() => heading(page), `${HOST} invites you`);
    await shows(
      page.locator("#offer"),
      ...["Alice Doe", "never published", `contractor of ${HOST}`, "deploy"],
      "until 2099-07-01 00:00:00 UTC",
      "Approving creates your key",
    );
    await page.click("#approve");
    await eventually(() => outcome(page), "Now send your answer back");
    const text = await copiedAnswer(page);
    const answer = JSON.parse(text);
    assertEquals(Object.keys(answer), ["invitation", "attestation"]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download answer.json" }).click();
    const file = await (await download).path();
    assertEquals(await Deno.readTextFile(file), text);
    // The page sends the invitation and its answer to no server.
    assert(asked.length > 0);
    for (const part of Object.values<string>(answer)) {
      assert(!asked.join().includes(part.slice(0, 40)));
    }
    await page.locator("#answered .did .copy").click();
    const did = await copied(page);
    assertMatch(did, /^did:key:z6Mk/);
    assertEquals((await issuer.enrol(text)).subject, did);
    const { decision } = JSON.parse(
      await issuer.sig(
        ...["check", "--sig", "$D/issuer", "--subject", did] as const,
        ...["--require", "relationship=contractor", "--require", "role=deploy"],
        ...["--format", "json"],
      ),
    );
    assertEquals(decision, "allow");
    await goTo(page, "#/keys");
    await eventually(() => page.locator(".key").count(), 1);

    issuer.expireCopies();
    await goTo(page, hash);
    await eventually(() => heading(page), "You accepted this invitation");
    await shows(page.locator("main"), "in event #1");
    await using stranger = await open({ hash });
    await eventually(() => outcome(stranger.page), "This invitation was used");
    assertEquals(await stranger.page.locator("#approve").count(), 0);
  },
);

invitingTest(
  "a person selects a key, or creates another for the invitation",
  { isKnown: false },
  async ({ page, issuer }) => {
    const own = await createKey(page);
    await goTo(page, await issuer.offer());
    await page.click("#approve");
    const subject = async () => {
      const { attestation } = JSON.parse(await copiedAnswer(page));
      return JSON.parse(atob(
        attestation.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"),
      )).sub;
    };
    assertEquals(await subject(), own);
    await goTo(page, await issuer.offer());
    await page.getByLabel("The key that you answer with")
      .selectOption({ label: "A new key" });
    await page.getByText("Approving creates your key").waitFor();
    await page.click("#approve");
    assert(await subject() !== own);
    await goTo(page, "#/keys");
    await eventually(() => page.locator(".key").count(), 2);
  },
);

invitingTest(
  "an invitation that is altered, forged, cut off or expired is refused in plain words",
  {},
  async ({ page, issuer }) => {
    const link = await issuer.offer();
    await goTo(page, link);
    await page.locator("#offer").waitFor();
    const [header = "", claims = "", signature = ""] = link.split(".");
    const offered = JSON.parse(atob(claims)) as { roles: string[] };
    const more = btoa(JSON.stringify({ ...offered, roles: ["admin"] }))
      .replaceAll("=", "");
    const own = await privateKeyOf(issuer.folder);
    const strange = { ...await generateSigningKey(), kid: own.kid };
    const now = Date.now();
    const notSigned = `${HOST} did not sign this`;
    const incomplete = "This invitation is incomplete";
    for (
      const [hash, says, code] of [
        [`${header}.${more}.${signature}`, notSigned, "signature_invalid"],
        [await forged({}, new Date(), strange), notSigned, "signature_invalid"],
        [
          await forged(),
          `${HOST} does not know this invitation’s key`,
          "key_not_found",
        ],
        [
          await forged({}, new Date(now - 30 * 86_400_000)),
          "This invitation expired on",
          "invitation_expired",
        ],
        [
          link.slice(0, link.lastIndexOf(".")),
          incomplete,
          "invalid_invitation",
        ],
        ["#/invitation/", incomplete, "invalid_invitation"],
        [
          await forged({}, new Date(now + 3_600_000), own),
          "This invitation is from the future",
          "invalid_invitation",
        ],
      ] as const
    ) {
      await goTo(page, hash);
      const card = page.locator(".sign-in-card", { hasText: says });
      await card.waitFor();
      await shows(page.locator(":focus"), says);
      await card.getByText("Details").click();
      await eventually(() => card.locator(".code").innerText(), code);
      assertEquals(await page.locator("#approve").count(), 0, code);
    }
  },
);

/** The issuer's own key, which the test may read. */
async function privateKeyOf(folder: string) {
  let path = `${folder}/keys`;
  while ((await Deno.stat(path)).isDirectory) {
    for await (const { name } of Deno.readDir(path)) path += `/${name}`;
  }
  return JSON.parse(await Deno.readTextFile(path));
}

invitingTest(
  "an invitation is not trusted if the issuer's keys are invalid",
  {},
  async ({ page, issuer }) => {
    // The page verifies the documents that the server serves.
    await page.route("**/ui/issuers/0/*", async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ body: text.replaceAll(HOST, "evil.example") });
    });
    await goTo(page, await issuer.offer());
    await page.getByText(`What ${HOST} publishes is not valid`).waitFor();
    assertEquals(await page.locator("#approve").count(), 0);
    await page.unroute("**/ui/issuers/0/*");
    await page.route("**/ui/issuers/0/*", (route) => route.abort());
    await page.getByRole("button", { name: "Verify again" }).click();
    await page.getByText("NOT VERIFIED").waitFor();
  },
);

pageTest("an invitation's values are shown as text", {}, async ({ page }) => {
  const markup = "<img src=x onerror=alert(1)><script>alert(1)</script>";
  for (
    const [text, shown] of [
      [markup, markup],
      ["alice\u202eexe\u00ad.", "alice\\u202eexe\\u00ad."],
      ["x".repeat(128), "x".repeat(128)],
    ] as const
  ) {
    await goTo(page, await forged({ for: text, roles: [text] }));
    const card = await shows(page.locator("#offer"), shown);
    assert(!card.match(/[\u202e\u00ad]/));
    const strangers = page.locator("main :is(script, img, [onerror])");
    assertEquals(await strangers.count(), 0);
  }
});

invitingTest(
  "an invitation can be answered with the keyboard, or on the command line if no key can be stored",
  { isKnown: false },
  async ({ page, open }) => {
    const hash = await forged();
    await goTo(page, hash);
    await page.locator("#approve:enabled").waitFor();
    await tabTo(page, "Approve", 7);
    await page.keyboard.press("Enter");
    await page.locator("#answered").waitFor();
    await eventually(() => focused(page), "Now send your answer back");
    await tabTo(page, "Copy the answer", 1);
    await page.keyboard.press("Enter");
    await page.getByText("Copied").waitFor();
    await tabTo(page, "Download answer.json", 1);
    await using poor = await open({ hash, prepare: removeEd25519 });
    await poor.page.getByText("This browser can’t store a key").waitFor();
    assertEquals(await poor.page.locator("#approve").count(), 0);
    await poor.page.getByRole("button", { name: "Copy the command" }).click();
    assertEquals(
      await copied(poor.page),
      `sig accept ${hash.slice("#/invitation/".length)} --out answer.json`,
    );
  },
);

invitingTest(
  "axe finds no fault in an invitation, nothing is wider than the screen, and a phone shows the button to approve",
  {},
  async ({ page, issuer }) => {
    await goTo(page, await forged());
    await page.locator("#outcome").waitFor();
    await inspect(page, "refused");
    await goTo(page, await issuer.offer("--for", "Alice Doe"));
    await page.locator("#approve:enabled").waitFor();
    await inspect(page, "offer");
    await requireVisible(page, "#approve");
    await page.click("#approve");
    await page.locator("#answered").waitFor();
    await page.locator("#answered summary").click();
    await inspect(page, "answered");
  },
);

const IN_ITS_NAME = `An invitation in the name of ${HOST}`;

invitingTest(
  "without the issuer's keys the page says NOT VERIFIED, and declining signs nothing",
  { isKnown: false },
  async ({ page, issuer }) => {
    await goTo(page, await issuer.offer());
    await page.getByText("NOT VERIFIED").waitFor();
    await eventually(() => heading(page), IN_ITS_NAME);
    assert(!(await page.locator("main").innerText()).includes("verified here"));
    await page.click("#decline");
    await eventually(() => outcome(page), "You declined");
    await page.getByRole("button", { name: "Back to the invitation" }).click();
    await page.getByText("NOT VERIFIED").waitFor();
    await goTo(page, "#/keys");
    await page.getByText("No key here yet").waitFor();
  },
);

invitingTest(
  "an invitation of an unknown issuer is verified with opened documents, or on the command line",
  { isKnown: false },
  async ({ page, issuer }) => {
    await goTo(page, await issuer.offer());
    const names = ["sig", "jwks", "did"];
    const filesOf = ({ folder }: { readonly folder: string }) =>
      names.map((name) => `${folder}/issuer/.well-known/${name}.json`);
    const all = filesOf(issuer);
    await page.getByText("Verify it yourself").click();
    const ways = page.locator("#verify-yourself");
    assertMatch(
      await ways.locator(".copyable code").innerText(),
      /^sig accept \S+ --out answer\.json$/,
    );
    // The page sends no request before the person follows a link.
    await eventually(
      () =>
        ways.locator("a").evaluateAll((links) =>
          links.map((link) => link.getAttribute("href"))
        ),
      names.map((name) => `https://${HOST}/.well-known/${name}.json`),
    );
    await page.setInputFiles("#issuer-files", all.slice(0, 2));
    await ways.getByText("did.json is missing.").waitFor();
    assert(await page.getByText("NOT VERIFIED").isVisible());

    await page.setInputFiles("#issuer-files", all);
    const signedAsTheySay = page.getByText(
      `Signed according to the documents that you opened. That is ${HOST} only if you saved them from https://${HOST}`,
    );
    await signedAsTheySay.waitFor();
    assertEquals(await page.getByText("NOT VERIFIED").count(), 0);
    await eventually(() => heading(page), IN_ITS_NAME);

    // Another key's signature is refused with opened documents too.
    await goTo(page, await forged());
    await page.setInputFiles("#issuer-files", all);
    await page.getByText(`${HOST} does not know this invitation’s key`)
      .waitFor();
    assertEquals(await page.locator("#approve").count(), 0);

    // Forged documents don't make an invitation trusted.
    await using forger = await startInviting({ isKnown: false });
    await goTo(page, await forger.offer());
    await page.setInputFiles("#issuer-files", filesOf(forger));
    await signedAsTheySay.waitFor();
    await eventually(() => heading(page), IN_ITS_NAME);
  },
);
