/// <reference lib="dom" />
/**
 * A real browser for the page's tests: an installed one, watched for everything
 * that the page must never do.
 *
 * @module
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

// The headless shell is the same engine without a window, and a fifth faster.
const NAMES = ["chromium-headless-shell", "chromium", "google-chrome"];

/** The browser's command line flags. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Returns the browser of `SIG_BROWSER`, or the first one on the PATH. */
function findBrowser(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const wanted = Deno.env.get("SIG_BROWSER");
  return (wanted
    ? [wanted]
    : NAMES.flatMap((name) => folders.map((folder) => `${folder}/${name}`)))
    .find((path) => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    });
}

/** The device of a person (default). */
const ORDINARY = {
  colorScheme: "light",
  // No animation to wait for; one test checks the motion.
  reducedMotion: "reduce",
  viewport: { width: 1280, height: 720 },
} as const;

/** Options of {@linkcode openPage} about the device. */
export type Device = NonNullable<Parameters<Browser["newContext"]>[0]>;

const executablePath = findBrowser();

/**
 * Defines a test that needs a browser. Without one it is ignored, or fails with
 * `SIG_CI=1`. `lacking` names another missing requirement.
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
    // The browser's pipes and timers close some turns after a test.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      if (executablePath === undefined) {
        throw new Error("Cannot test the page: there is no Chromium here");
      }
      if (lacking !== undefined) throw new Error(`Cannot test: ${lacking}`);
      running ??= chromium.launch({ executablePath, args: ARGS });
      await fn(await running);
    },
  });
}

/** The page renders asynchronously: a single read may come too early. */
export { waitForEqual as eventually } from "../../../tests/kit/wait.ts";

/** Waits until an element's text contains all parts, and returns the text. */
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

/**
 * The browser for all tests of a file: pages share nothing, since each has its
 * own context.
 */
let running: Promise<Browser> | undefined;

Deno.test.afterAll(async () => {
  await (await running)?.close();
});

/** Options of {@linkcode openPage}. */
export interface PageOptions {
  readonly path?: string | undefined;
  readonly hash?: string | undefined;
  readonly device?: Device | undefined;
  /** Origins that its links may lead to; tabs on them are watched too. */
  readonly also?: readonly string[] | undefined;
  readonly prepare?: ((page: Page) => Promise<unknown>) | undefined;
}

/** A watched page. */
interface WatchedPage extends AsyncDisposable {
  /** The page. */
  readonly page: Page;
}

/**
 * Opens a page of `origin`. When disposed of, asserts that the page has sent no
 * request to another origin, violated no content security policy and thrown no
 * error.
 */
export async function openPage(
  browser: Browser,
  origin: string,
  { path = "", hash = "", device = {}, also = [], prepare }: PageOptions = {},
): Promise<WatchedPage> {
  // Keys and storage belong to an origin, and each server has its own.
  const isPlain = prepare === undefined && also.length === 0 &&
    !shown.has(origin);
  const kind = JSON.stringify(device);
  const free = isPlain ? spare.get(kind) : undefined;
  if (free !== undefined) spare.delete(kind);
  const page = free ?? await newPage(browser, device);
  if (isPlain) shown.add(origin);
  const context = page.context();
  const violations: string[] = [];
  const onRequest = (request: Request) => {
    const { origin: to, protocol } = new URL(request.url());
    const isKnown = to === origin || also.includes(to);
    if (!isKnown && protocol !== "data:" && protocol !== "blob:") {
      violations.push(`asked ${request.url()}`);
    }
  };
  const onError = (error: WebError) =>
    void violations.push(`threw ${error.error()}`);
  const onConsole = (message: ConsoleMessage) => {
    const text = message.text();
    // The browser logs responses with an error status as errors, which are
    // expected.
    if (message.type() !== "error" || /^Failed to load resource/.test(text)) {
      return;
    }
    violations.push(`said ${text}`);
  };
  const onDialog = (dialog: Dialog) => {
    violations.push(`opened a dialog: ${dialog.message()}`);
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
    async [Symbol.asyncDispose]() {
      if (isPlain && !spare.has(kind)) {
        await clear(page, origin, { ...ORDINARY, ...device });
        context.off("request", onRequest).off("weberror", onError)
          .off("console", onConsole);
        page.off("dialog", onDialog);
        spare.set(kind, page);
      } else await context.close();
      assertEquals(violations, []);
    },
  };
}

/**
 * Pages of previous tests by their device, for the next tests: creating a
 * context and the process of its first page takes a second of processor time. A
 * test with a `prepare` function gets its own page.
 */
const spare = new Map<string, Page>();

/** The origins that a reusable page has shown. */
const shown = new Set<string>();

/** Creates a page in a separate context, for tests with several origins. */
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

/**
 * Ends everything that a test started on a page; violations meanwhile are still
 * recorded.
 */
async function clear(
  page: Page,
  origin: string,
  device: Device,
): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  // A blank page runs nothing, and the same origin needs no new process.
  const blank = `${origin}/blank`;
  await page.route(blank, (route) => route.fulfill({ body: "" }));
  await page.goto(blank);
  await page.unrouteAll();
  await page.emulateMedia({ ...ORDINARY, ...device });
  await page.setViewportSize(device.viewport ?? ORDINARY.viewport);
  await context.clearCookies();
}

/** Saves a screenshot to the folder of `SIG_SCREENSHOTS`. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = Deno.env.get("SIG_SCREENSHOTS");
  if (folder === undefined) return;
  await Deno.mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
