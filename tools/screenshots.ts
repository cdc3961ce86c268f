/// <reference lib="dom" />
/**
 * Makes pictures of every state of sig-web's page, for people to look at:
 * `deno task screenshots [FOLDER]`, (default: a new
 * folder under the system's temporary one). At a desk and on a phone, light and dark, and at 200 % zoom.
 * Says how long the page takes until it can be used, too.
 *
 * @module
 */

import { type Browser, chromium, type Page } from "playwright-core";
import {
  answerInvitation,
  generateSigningKey,
  importSigningKey,
  parseInvitation,
} from "@sig/jose";
import { signedFeed } from "../tests/kit/signed_feed.ts";
import {
  evidenceFile,
  testEvidence,
  testVerifierKey,
} from "../web/ui_test/testdata/evidence_file.ts";
import { feedFiles } from "../web/ui_test/testdata/feed_case.ts";
import {
  BROWSER_ARGS,
  findBrowser,
} from "../web/ui_test/testdata/find_browser.ts";
import {
  addAuthenticator,
  approve,
  createKey,
  goTo,
  openByHand,
  start,
} from "../web/ui_test/testdata/person.ts";
import {
  fragmentOf,
  type Inviting,
  startInviting,
} from "../web/ui_test/testdata/inviting_issuer.ts";
import { startServer } from "../web/ui_test/testdata/server.ts";

const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
};
/** What zooming by 200 % makes of a desk. */
const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };

const DEVICES = [
  { name: "1280-light", device: { ...DESK, colorScheme: "light" } },
  { name: "1280-dark", device: { ...DESK, colorScheme: "dark" } },
  { name: "390-light", device: { ...PHONE, colorScheme: "light" } },
  { name: "390-dark", device: { ...PHONE, colorScheme: "dark" } },
  { name: "zoom-light", device: { ...ZOOMED, colorScheme: "light" } },
] as const;

const ROLES = ["deploy", "read", "billing", "on-call"];
const FIRST = ["Ada", "Grace", "Linus", "Margaret", "Edsger", "Barbara"];
const LAST = ["Lovelace", "Hopper", "Torvalds", "Hamilton", "Dijkstra"];
const RTL = ["محمد علی", "دانا می\u200cخواهم", "שרה כהן", "נועם לוי"];

/** A feed of so many events, in which some people change and leave. */
async function makeFeed(events: number, names?: readonly string[]) {
  const people = Math.ceil(events * 0.8);
  const drafts = Array.from({ length: people }, (_, i) => ({
    event_type: "relationship.upsert" as const,
    relationship_id: `r-${i + 1}`,
    subject: `did:web:person-${i + 1}.people.example`,
    relationship_type: i % 9 === 0
      ? "contractor" as const
      : "employee" as const,
    roles: [ROLES[i % 4]!, ...(i % 5 === 0 ? ["admin"] : [])],
    ...(i % 7 === 0 ? { valid_until: "2099-12-31T00:00:00Z" } : {}),
    display: {
      label: names?.[i % names.length] ??
        `${FIRST[i % 6]} ${LAST[i % 5]} ${i + 1}`,
      title: i % 3 === 0 ? "Engineer" : "Analyst",
      department: i % 2 === 0 ? "Platform" : "Finance",
    },
  }));
  const ends = Array.from({ length: events - people }, (_, i) => ({
    event_type: "relationship.revoke" as const,
    relationship_id: `r-${i * 3 + 1}`,
    reason_code: "employment_ended" as const,
  }));
  const { Buffer } = await import("node:buffer");
  return {
    name: "feed.json",
    mimeType: "application/json",
    buffer: Buffer.from(await signedFeed([...drafts, ...ends])),
  };
}

type Feed = Awaited<ReturnType<typeof makeFeed>>;
type Look = (state: string, whole?: boolean, at?: Page) => Promise<void>;

async function visitLogin(page: Page, look: Look): Promise<void> {
  await look("login-first-visit");
  await page.locator("#details > summary").click();
  await look("login-details", true);
  await page.click("#decline");
  await look("login-declined");
  await page.getByRole("button", { name: "Start again" }).click();
  await approve(page);
  await look("login-result");
  await goTo(page, "#/keys");
  await createKey(page);
  await look("keys");
  await page.getByRole("button", { name: "Forget this key" }).first().click();
  await look("keys-forget");
  await page.getByRole("button", { name: "Keep it" }).click();
  await start(page, { scopes: ["profile", "groups", "email"] });
  await openByHand(page);
  await look("login-by-hand", true);
  await page.route("**/attestation/verify", (route) => route.abort());
  await approve(page);
  await look("refusal-no-answer");
  await goTo(page, "#/explore");
  await look("explore-no-issuer");
}

/** Both, in tabs of their own, by the one key. */
async function openApplications(
  page: Page,
): Promise<readonly (readonly [string, Page])[]> {
  const opened: (readonly [string, Page])[] = [];
  for (const name of ["shop", "wiki"]) {
    await page.bringToFront();
    const [app] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("link", { name: `Open the ${name}` }).click(),
    ]);
    if (name === "shop") await app.locator("#approve:enabled").click();
    await app.locator(".person").waitFor();
    opened.push([name, app]);
  }
  await page.bringToFront();
  await page.getByText("you are in").nth(1).waitFor();
  return opened;
}

async function visitDemo(page: Page, look: Look): Promise<void> {
  await look("demo-1-key");
  await goTo(page, "#/keys");
  await page.getByRole("button", { name: "Create my key" }).waitFor();
  await look("keys-none");
  await goTo(page, "#/explore/0");
  await page.getByText("has no relationships yet").waitFor();
  await look("explore-empty");
  await goTo(page, "#/sign-in");
  await page.getByRole("button", { name: "Create my key" }).click();
  await page.getByRole("button", { name: "Enrol me" }).waitFor();
  await look("demo-2-hired");
  await page.getByRole("button", { name: "Enrol me" }).click();
  await page.locator("#approve:enabled").waitFor();
  await look("demo-3-sign-in");
  await approve(page);
  await page.getByText("checked now").waitFor();
  await look("demo-4-result", true);
  const apps = await openApplications(page);
  for (const [name, app] of apps) await look(`app-${name}`, true, app);
  await look("demo-4-apps", true);
  await goTo(page, "#/keys");
  await page.locator("#consents .card").waitFor();
  await look("keys-applications", true);
  await goTo(page, "#/sign-in");
  await page.getByRole("button", { name: "Revoke me" }).click();
  await page.getByText("Both are closed.").waitFor();
  await look("demo-4-closed", true);
  for (const [name, app] of apps) {
    await app.getByRole("heading", { name: "ended your employment" }).waitFor();
    await look(`app-${name}-closed`, true, app);
    await app.close();
  }
  await page.getByRole("button", { name: "Try to sign in again" }).click();
  await page.locator("#approve:enabled").click();
  await page.getByText(/ended your employment at/).waitFor();
  await look("demo-5-refused", true);
  await page.getByRole("link", { name: "See it in the feed" }).click();
  await page.locator("#answer-title").waitFor();
  await look("demo-6-feed", true);
}

async function visitExplorer(
  page: Page,
  look: Look,
  feeds: Readonly<Record<string, Feed>>,
): Promise<void> {
  await goTo(page, "#/explore");
  for (const [name, feed] of Object.entries(feeds)) {
    await goTo(page, "#/explore?tab=people");
    await page.setInputFiles("#files", feed);
    if (name === "10000") {
      await page.locator("#verdict progress").waitFor();
      await look("explore-verifying");
    }
    await page.locator("table.rows").waitFor();
    await look(`explore-people-${name}`);
    const filter = page.getByRole("button", { name: "Filter" });
    if (await filter.isVisible()) await filter.click();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    await page.fill("#people-date", tomorrow.slice(0, 10));
    await look(`explore-date-${name}`);
    await page.locator(".row-button").nth(1).click();
    await look(`explore-person-${name}`);
    await page.keyboard.press("Escape");
    await goTo(page, "#/explore?tab=events");
    await page.locator("table.events").waitFor();
    await look(`explore-events-${name}`);
    await page.locator(".row-button").first().click();
    await look(`explore-event-${name}`);
    await page.keyboard.press("Escape");
    await goTo(page, "#/explore?tab=ask");
    await page.getByText("At another time").click();
    await page.locator("#ask-form button[type=submit]").click();
    await page.locator("#answer-title").waitFor();
    await look(`explore-ask-${name}`, true);
    await goTo(page, "#/keys");
    await goTo(page, "#/explore");
  }
  await page.setInputFiles("#files", await feedFiles("history"));
  await page.locator("table.rows").waitFor();
  await page.fill("#people-text", "nobody is called this");
  await look("explore-nobody");
  await goTo(page, "#/keys");
  await goTo(page, "#/explore");
  await page.setInputFiles("#files", await feedFiles("signature-flipped-bit"));
  await page.locator(".faults").waitFor();
  await look("explore-invalid");
  await page.setInputFiles("#files", await evidenceFile(await testEvidence()));
  await page.locator(".chain").waitFor();
  await look("explore-evidence-unknown-key", true);
  await page.fill("#evidence-key", await testVerifierKey());
  await page.getByRole("button", { name: "Verify with this key" }).click();
  await page.getByRole("heading", { name: "Proven" }).waitFor();
  await look("explore-evidence", true);
}

async function visitInvitations(
  page: Page,
  look: Look,
  links: Readonly<Record<"good" | "unknown" | "used", string>>,
): Promise<void> {
  const good = fragmentOf(links.good);
  await goTo(page, good);
  await page.locator("#approve:enabled").waitFor();
  await look("invitation");
  await page.click("#decline");
  await look("invitation-declined");
  await goTo(page, good.slice(0, -40));
  await page.locator("#outcome").waitFor();
  await look("invitation-cut-off");
  await goTo(page, fragmentOf(links.used));
  await page.getByText("This invitation was used").waitFor();
  await look("invitation-used");
  await goTo(page, fragmentOf(links.unknown));
  await page.getByText("NOT VERIFIED").waitFor();
  await look("invitation-not-verified");
  await page.getByText("Verify it yourself").click();
  await look("invitation-verify-yourself", true);
  await goTo(page, good);
  await page.click("#approve");
  await page.locator("#answered").waitFor();
  await look("invitation-answered", true);
}

async function visitDevices(
  page: Page,
  look: Look,
  { invite, sig }: Pick<Inviting, "invite" | "sig">,
): Promise<void> {
  const did = await createKey(page);
  const roles = ["--role", "deploy"];
  await sig(
    ...["upsert", "--dir", "issuer", "--subject", did, ...roles],
    ...["--type", "employee"],
  );
  const link = await invite("--also", did);
  await page.locator("#add-device > summary").click();
  await page.fill("#device-link", link);
  await page.locator(".qr").waitFor();
  await look("keys-add-device", true);
  await goTo(page, fragmentOf(link));
  await page.locator(".qr").waitFor();
  await look("invitation-another-device", true);
}

/** On a host name: an address can't have passkeys. */
async function visitPasskeys(page: Page, look: Look): Promise<void> {
  await page.getByText("Use a passkey").click();
  await look("login-passkey", true);
  await goTo(page, "#/keys");
  const use = page.getByRole("button", { name: "Use my passkey" });
  await use.click();
  await page.getByText("No passkey was used.").waitFor();
  await look("keys-no-passkey", true);
  await addAuthenticator(page, true);
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.locator(".key").waitFor();
  await createKey(page);
  await look("keys-passkey", true);
}

/** Milliseconds from asking for the page to its button, in a fresh browser. */
async function measureStart(browser: Browser, origin: string): Promise<number> {
  const page = await browser.newPage();
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector("#approve:enabled")) return;
      observer.disconnect();
      performance.mark("ready");
    });
    observer.observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
    });
  });
  await page.goto(`${origin}/`);
  await page.locator("#approve:enabled").waitFor();
  const ms = await page.evaluate(() =>
    performance.getEntriesByName("ready")[0]?.startTime ?? NaN
  );
  await page.close();
  return Math.round(ms);
}

if (import.meta.main) {
  const folder = Deno.args[0] ??
    await Deno.makeTempDir({ prefix: "sig-page-" });
  await Deno.mkdir(folder, { recursive: true });
  const executablePath = await findBrowser();
  if (executablePath === undefined) {
    console.error("Cannot make pictures: there is no Chromium here");
    Deno.exit(2);
  }
  const feeds = {
    "500": await makeFeed(500),
    "10000": await makeFeed(10_000),
    rtl: await makeFeed(12, RTL),
  };
  const browser = await chromium.launch({ executablePath, args: BROWSER_ARGS });
  const login = await startServer({ hosts: ["localhost", "127.0.0.1"] });
  const named = login.origin.replace("127.0.0.1", "localhost");
  await using inviting = await startInviting();
  await using stranger = await startInviting(false, "umbrella.example");
  const terms = ["--type", "contractor", "--role", "deploy"];
  const links = {
    good: await inviting.invite(
      ...[...terms, "--role", "on-call", "--for", "Alice Doe"],
      ...["--valid-until", "2099-06-30"],
    ),
    unknown: await stranger.invite(...terms),
    used: await inviting.invite(...terms),
  };
  const answer = await answerInvitation({
    invitation: parseInvitation(
      fragmentOf(links.used).slice("#/invitation/".length),
    ),
    key: await importSigningKey(await generateSigningKey()),
    now: () => new Date(),
  });
  const file = `${inviting.folder}/answer.json`;
  await Deno.writeTextFile(file, JSON.stringify(answer));
  await inviting.sig(...[
    "enrol",
    "--dir",
    "issuer",
    "--answer",
    file,
    "--yes",
  ]);
  for (const { name, device } of DEVICES) {
    // Its feed begins with nobody.
    await using demo = await startServer({ withDemo: true });
    const origins = [login.origin, named, demo.origin, inviting.origin];
    for (const origin of origins) {
      const context = await browser.newContext({
        ...device,
        reducedMotion: "reduce",
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const page = await context.newPage();
      const look: Look = async (state, whole = false, at = page) => {
        await at.screenshot({
          path: `${folder}/${state}-${name}.png`,
          fullPage: whole,
        });
      };
      await page.goto(`${origin}/`);
      await page.waitForSelector("html[data-ready]");
      if (origin === demo.origin) await visitDemo(page, look);
      else if (origin === inviting.origin) {
        await visitInvitations(page, look, links);
        await visitDevices(page, look, inviting);
      } else if (origin === named) await visitPasskeys(page, look);
      else {
        await visitLogin(page, look);
        await visitExplorer(page, look, feeds);
      }
      await context.close();
    }
  }
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    times.push(await measureStart(browser, login.origin));
  }
  await browser.close();
  await login[Symbol.asyncDispose]();
  console.log(`Pictures: ${folder}`);
  console.log(`Ready after ${times.sort((a, b) => a - b)} ms, five times`);
}
