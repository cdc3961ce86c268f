/// <reference lib="dom" />
import { generateSigningKey } from "@sig/jose";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import {
  browserTest,
  eventually,
  openPage,
  shows,
} from "./testdata/browser.ts";
import { inspect } from "./testdata/faults.ts";
import {
  forged,
  fragmentOf,
  HOST,
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
import { pageTest, startServer } from "./testdata/server.ts";

const TERMS = ["--type", "contractor", "--role", "deploy"] as const;

/** Returns the text that the button Copy copies. */
async function copiedAnswer(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Copy the answer" }).click();
  return await copied(page);
}

browserTest(
  "an invitation of sig invite is answered on the page, and sig enrol accepts the answer",
  async (browser) => {
    await using issuer = await startInviting();
    const link = await issuer.invite(
      ...TERMS,
      ...["--for", "Alice Doe", "--valid-until", "2099-06-30"],
    );
    const asked: string[] = [];
    await using watched = await openPage(browser, issuer.origin, {
      hash: fragmentOf(link),
      prepare(page) {
        page.on("request", (request) => {
          asked.push(request.url(), request.postData() ?? "");
        });
        return Promise.resolve();
      },
    });
    const { page } = watched;
    await page.getByText(`Signed by ${HOST}, verified here`).waitFor();
    await eventually(
      () => page.locator("h2").innerText(),
      `${HOST} invites you`,
    );
    const card = await page.locator("#offer").innerText();
    for (
      const words of [
        "Alice Doe",
        "never published",
        `contractor of ${HOST}`,
        "deploy",
        "until 2099-07-01 00:00:00 UTC",
        "Approving creates your key",
      ]
    ) assert(card.includes(words), card);
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
    for (const part of Object.values<string>(answer)) {
      assert(!asked.join().includes(part.slice(0, 40)));
    }
    const words = ["enrol", "--dir", "$D/issuer", "--answer", file, "--yes"];
    await issuer.sig(...words);
    await page.locator("#answered .did .copy").click();
    const did = await copied(page);
    assertMatch(did, /^did:key:z6Mk/);
    const decision = JSON.parse(
      await issuer.sig(
        ...[
          "check",
          "--sig",
          "$D/issuer",
          "--subject",
          did,
          "--format",
          "json",
        ],
        ...["--require", "relationship=contractor", "--require", "role=deploy"],
      ),
    );
    assertEquals(decision.decision, "allow");
    await goTo(page, "#/keys");
    await eventually(() => page.locator(".key").count(), 1);

    // The server serves a copy that is a few seconds old.
    await eventually(async () => {
      await goTo(page, "#/keys");
      await goTo(page, fragmentOf(link));
      await page.locator("#offer, #outcome").waitFor();
      return await page.locator("h2").innerText();
    }, "You accepted this invitation");
    await shows(page.locator("main"), "in event #1");
    await using stranger = await openPage(browser, issuer.origin, {
      hash: fragmentOf(link),
    });
    await eventually(() => outcome(stranger.page), "This invitation was used");
    assertEquals(await stranger.page.locator("#approve").count(), 0);
  },
);

browserTest(
  "a person selects a key, or creates another for the invitation",
  async (browser) => {
    await using issuer = await startInviting(false);
    await using watched = await openPage(browser, issuer.origin);
    const { page } = watched;
    const own = await createKey(page);
    await goTo(page, fragmentOf(await issuer.invite(...TERMS)));
    await page.click("#approve");
    const subject = async () => {
      const { attestation } = JSON.parse(await copiedAnswer(page));
      return JSON.parse(atob(
        attestation.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"),
      )).sub;
    };
    assertEquals(await subject(), own);
    await goTo(page, fragmentOf(await issuer.invite(...TERMS)));
    await page.getByLabel("The key that you answer with")
      .selectOption({ label: "A new key" });
    await page.getByText("Approving creates your key").waitFor();
    await page.click("#approve");
    assert(await subject() !== own);
    await goTo(page, "#/keys");
    await eventually(() => page.locator(".key").count(), 2);
  },
);

browserTest(
  "an invitation that is altered, forged, cut off or expired is refused in plain words",
  async (browser) => {
    await using issuer = await startInviting();
    const link = fragmentOf(await issuer.invite(...TERMS));
    const [header = "", claims = "", signature = ""] = link.split(".");
    const offered = JSON.parse(atob(claims)) as { roles: string[] };
    const more = btoa(JSON.stringify({ ...offered, roles: ["admin"] }))
      .replaceAll("=", "");
    const strange = await generateSigningKey();
    const jwks = JSON.parse(
      await Deno.readTextFile(`${issuer.folder}/issuer/.well-known/jwks.json`),
    );
    const { kid } = jwks.keys[0];
    const old = new Date(Date.now() - 30 * 86_400_000);
    await using watched = await openPage(browser, issuer.origin, {
      hash: link,
    });
    const { page } = watched;
    await page.locator("#offer").waitFor();
    const altered = `${header}.${more}.${signature}`;
    for (
      const [hash, says, code] of [
        [altered, `${HOST} did not sign this`, "signature_invalid"],
        [
          await forged({}, new Date(), { ...strange, kid }),
          `${HOST} did not sign this`,
          "signature_invalid",
        ],
        [
          await forged(),
          `${HOST} does not know this invitation’s key`,
          "key_not_found",
        ],
        [
          await forged({}, old),
          "This invitation expired on",
          "invitation_expired",
        ],
        [
          link.slice(0, link.lastIndexOf(".")),
          "This invitation is incomplete",
          "invalid_invitation",
        ],
        [
          "#/invitation/",
          "This invitation is incomplete",
          "invalid_invitation",
        ],
        [
          await forged({}, new Date(Date.now() + 3_600_000), {
            ...await privateKeyOf(issuer.folder),
          }),
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

browserTest(
  "an invitation is not trusted if the issuer's keys are invalid",
  async (browser) => {
    await using issuer = await startInviting();
    const hash = fragmentOf(await issuer.invite(...TERMS));
    await using watched = await openPage(browser, issuer.origin);
    const { page } = watched;
    // The page verifies the documents that the server serves.
    await page.route("**/ui/issuers/0/*", async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ body: text.replaceAll(HOST, "evil.example") });
    });
    await goTo(page, hash);
    await page.getByText(`What ${HOST} publishes is not valid`)
      .waitFor();
    assertEquals(await page.locator("#approve").count(), 0);
    await page.unroute("**/ui/issuers/0/*");
    await page.route("**/ui/issuers/0/*", (route) => route.abort());
    await page.getByRole("button", { name: "Verify again" }).click();
    await page.getByText("NOT VERIFIED").waitFor();
  },
);

pageTest("an invitation's values are shown as text", {}, async ({ page }) => {
  for (
    const [text, shown] of [
      [
        "<img src=x onerror=alert(1)><script>alert(1)</script>",
        "<img src=x onerror=alert(1)><script>alert(1)</script>",
      ],
      ["alice\u202eexe\u00ad.", "alice\\u202eexe\\u00ad."],
      ["x".repeat(128), "x".repeat(128)],
    ] as const
  ) {
    await goTo(page, await forged({ for: text, roles: [text] }));
    await page.locator("#offer", { hasText: shown }).waitFor();
    const card = await page.locator("#offer").innerText();
    assert(!card.match(/[\u202e\u00ad]/));
    assertEquals(
      await page.locator("main :is(script, img, [onerror])").count(),
      0,
    );
  }
});

browserTest(
  "an invitation can be answered with the keyboard, or on the command line if no key can be stored",
  async (browser) => {
    await using server = await startServer();
    const hash = await forged();
    await using watched = await openPage(browser, server.origin, { hash });
    const { page } = watched;
    await page.locator("#approve:enabled").waitFor();
    await tabTo(page, "Approve", 7);
    await page.keyboard.press("Enter");
    await page.locator("#answered").waitFor();
    await eventually(() => focused(page), "Now send your answer back");
    await tabTo(page, "Copy the answer", 1);
    await page.keyboard.press("Enter");
    await page.getByText("Copied").waitFor();
    await tabTo(page, "Download answer.json", 1);
    await using poor = await openPage(browser, server.origin, {
      hash,
      prepare: removeEd25519,
    });
    await poor.page.getByText("This browser can’t store a key").waitFor();
    assertEquals(await poor.page.locator("#approve").count(), 0);
    await poor.page.getByRole("button", { name: "Copy the command" }).click();
    assertEquals(
      await copied(poor.page),
      `sig accept ${hash.slice("#/invitation/".length)} --out answer.json`,
    );
  },
);

browserTest(
  "axe finds no fault in an invitation, nothing is wider than the screen, and a phone shows the button to approve",
  async (browser) => {
    await using issuer = await startInviting();
    const own = fragmentOf(await issuer.invite(...TERMS, "--for", "Alice Doe"));
    await using watched = await openPage(browser, issuer.origin);
    const { page } = watched;
    await goTo(page, await forged());
    await page.locator("#outcome").waitFor();
    await inspect(page, "refused");
    await goTo(page, own);
    await page.locator("#approve:enabled").waitFor();
    await inspect(page, "offer");
    await requireVisible(page, "#approve");
    await page.click("#approve");
    await page.locator("#answered").waitFor();
    await page.locator("#answered summary").click();
    await inspect(page, "answered");
  },
);
