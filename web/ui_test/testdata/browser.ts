/// <reference lib="dom" />
/**
 * A real browser for the page's tests: found, not downloaded, and watched for
 * everything that the page must never do. @module
 */

import { assertEquals } from "@std/assert";
import { type Browser, chromium, type Page } from "playwright-core";
import { BROWSER_ARGS, findBrowser } from "./find_browser.ts";

/** What {@linkcode openPage} can be told of the person's device. */
export type Device = NonNullable<Parameters<Browser["newContext"]>[0]>;

const executablePath = await findBrowser();

/**
 * A test that needs a browser: ignored by name where there is none, a failure
 * there with `SIG_CI=1`. `lacking` names what else it needs and has not got.
 */
export function browserTest(
  name: string,
  fn: (browser: Browser) => Promise<void>,
  lacking?: string,
): void {
  const isComplete = executablePath !== undefined && lacking === undefined;
  Deno.test({
    name,
    ignore: !isComplete && Deno.env.get("SIG_CI") !== "1",
    // The browser's pipes and timers outlive a test by some turns.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      if (executablePath === undefined) {
        throw new Error("Cannot test the page: there is no Chromium here");
      }
      if (lacking !== undefined) throw new Error(`Cannot test: ${lacking}`);
      running ??= chromium.launch({ executablePath, args: BROWSER_ARGS });
      await fn(await running);
    },
  });
}

/** One for all tests of a file: pages share nothing, each has a context. */
let running: Promise<Browser> | undefined;

Deno.test.afterAll(async () => {
  await (await running)?.close();
});

/** A page that is watched. */
export interface WatchedPage extends AsyncDisposable {
  /** The page. */
  readonly page: Page;
  /** What it did that it must not do, so far. */
  readonly misdeeds: readonly string[];
}

/**
 * Opens a page of `origin`. When it is disposed of, it must have asked no other
 * origin for anything, broken no content security policy, thrown nothing.
 */
export async function openPage(
  browser: Browser,
  origin: string,
  { path = "", hash = "", device = {}, also = [], prepare }: {
    readonly path?: string;
    readonly hash?: string;
    /** Origins that its links lead to, in tabs that are watched likewise. */
    readonly also?: readonly string[];
    readonly device?: Device;
    readonly prepare?: (page: Page) => Promise<void>;
  } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    permissions: ["clipboard-read", "clipboard-write"],
    // Nothing to wait for; one test looks at the motion.
    reducedMotion: "reduce",
    ...device,
  });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const misdeeds: string[] = [];
  context.on("request", (request) => {
    const { origin: to, protocol } = new URL(request.url());
    const isKnown = to === origin || also.includes(to);
    if (!isKnown && protocol !== "data:" && protocol !== "blob:") {
      misdeeds.push(`asked ${request.url()}`);
    }
  });
  context.on("weberror", (error) => misdeeds.push(`threw ${error.error()}`));
  context.on("console", (message) => {
    const text = message.text();
    // Refusals are answers too; the browser calls them errors.
    if (message.type() !== "error" || /^Failed to load resource/.test(text)) {
      return;
    }
    misdeeds.push(`said ${text}`);
  });
  page.on("dialog", (dialog) => {
    misdeeds.push(`opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`broke ${event.violatedDirective}: ${event.blockedURI}`);
    });
  });
  await prepare?.(page);
  await page.goto(`${origin}/${path}${hash}`);
  await page.waitForSelector("html[data-ready]");
  return {
    page,
    misdeeds,
    async [Symbol.asyncDispose]() {
      await context.close();
      assertEquals(misdeeds, []);
    },
  };
}

/** Keeps a picture of the page in the folder that `SIG_SCREENSHOTS` names. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = Deno.env.get("SIG_SCREENSHOTS");
  if (folder === undefined) return;
  await Deno.mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
