/// <reference lib="dom" />
/**
 * A real browser for the page's tests: found, not downloaded, and watched for
 * everything that the page must never do. @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  type Browser,
  chromium,
  type ConsoleMessage,
  type Dialog,
  type Locator,
  type Page,
  type Request,
  type WebError,
} from "playwright-core";
import { retry, WAIT_LIMIT_MS } from "../../../tests/kit/wait.ts";
import { BROWSER_ARGS, findBrowser } from "./find_browser.ts";

/** A person's device, unless a test wants another one. */
const ORDINARY = {
  colorScheme: "light",
  // Nothing to wait for; one test looks at the motion.
  reducedMotion: "reduce",
  viewport: { width: 1280, height: 720 },
} as const;

/** Options of {@linkcode openPage} about the device. */
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

/** A page draws after what made it change: a single read may come too early. */
export { waitForEqual as eventually } from "../../../tests/kit/wait.ts";

/** Waits until an element's text has all of these parts, and gives the text. */
export async function shows(
  element: Locator,
  ...parts: readonly (string | RegExp)[]
): Promise<string> {
  return await retry(async () => {
    const text = await element.innerText();
    for (const part of parts) {
      if (typeof part === "string") assertStringIncludes(text, part);
      else assertMatch(text, part);
    }
    return text;
  });
}

/** One for all tests of a file: pages share nothing, each has a context. */
let running: Promise<Browser> | undefined;

Deno.test.afterAll(async () => {
  await (await running)?.close();
});

/** Options of {@linkcode openPage}. */
export interface PageOptions {
  readonly path?: string | undefined;
  readonly hash?: string | undefined;
  readonly device?: Device | undefined;
  /** Origins that its links lead to, in tabs that are watched likewise. */
  readonly also?: readonly string[] | undefined;
  readonly prepare?: ((page: Page) => Promise<unknown>) | undefined;
}

/** A page that is watched. */
interface WatchedPage extends AsyncDisposable {
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
  { path = "", hash = "", device = {}, also = [], prepare }: PageOptions = {},
): Promise<WatchedPage> {
  // What keys and stores know of is an origin, and each server has its own.
  const isPlain = prepare === undefined && also.length === 0 &&
    Object.keys(device).length === 0 && !shown.has(origin);
  const free = isPlain ? spare : undefined;
  if (free !== undefined) spare = undefined;
  const page = free ?? await newPage(browser, device);
  if (isPlain) shown.add(origin);
  const context = page.context();
  const misdeeds: string[] = [];
  const onRequest = (request: Request) => {
    const { origin: to, protocol } = new URL(request.url());
    const isKnown = to === origin || also.includes(to);
    if (!isKnown && protocol !== "data:" && protocol !== "blob:") {
      misdeeds.push(`asked ${request.url()}`);
    }
  };
  const onError = (error: WebError) =>
    void misdeeds.push(`threw ${error.error()}`);
  const onConsole = (message: ConsoleMessage) => {
    const text = message.text();
    // Refusals are answers too; the browser calls them errors.
    if (message.type() !== "error" || /^Failed to load resource/.test(text)) {
      return;
    }
    misdeeds.push(`said ${text}`);
  };
  const onDialog = (dialog: Dialog) => {
    misdeeds.push(`opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  };
  context.on("request", onRequest).on("weberror", onError)
    .on("console", onConsole);
  page.on("dialog", onDialog);
  await prepare?.(page);
  await page.goto(`${origin}/${path}${hash}`);
  await page.waitForSelector("html[data-ready]");
  return {
    page,
    misdeeds,
    async [Symbol.asyncDispose]() {
      if (isPlain && spare === undefined) {
        await clear(page, origin);
        context.off("request", onRequest).off("weberror", onError)
          .off("console", onConsole);
        page.off("dialog", onDialog);
        spare = page;
      } else await context.close();
      assertEquals(misdeeds, []);
    },
  };
}

/**
 * The page that the last test left, for the next one of the file: making a
 * context, and the process of its first page, takes a second of a processor.
 * One that wants a device, or anything before the page, gets its own.
 */
let spare: Page | undefined;

/** The origins that a page which may be used again has shown. */
const shown = new Set<string>();

/** A page in a context of its own, for tests that go to several origins. */
export async function newPage(
  browser: Browser,
  device: Device = {},
): Promise<Page> {
  const context = await browser.newContext({
    permissions: ["clipboard-read", "clipboard-write"],
    ...ORDINARY,
    ...device,
  });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`broke ${event.violatedDirective}: ${event.blockedURI}`);
    });
  });
  return await context.newPage();
}

/** Ends what a test began on a page; what it still does wrong is seen. */
async function clear(page: Page, origin: string): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  // Nothing runs there, and for a neighbour of it no process is begun.
  const blank = `${origin}/blank`;
  await page.route(blank, (route) => route.fulfill({ body: "" }));
  await page.goto(blank);
  await page.unrouteAll();
  await page.emulateMedia(ORDINARY);
  await page.setViewportSize(ORDINARY.viewport);
  await context.clearCookies();
}

/** Keeps a picture of the page in the folder that `SIG_SCREENSHOTS` names. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = Deno.env.get("SIG_SCREENSHOTS");
  if (folder === undefined) return;
  await Deno.mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
