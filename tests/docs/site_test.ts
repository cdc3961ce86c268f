/// <reference lib="dom" />
/** The site of the documents, built and looked at. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { browserTest, openPage } from "../../web/ui_test/testdata/browser.ts";
import { findFaults } from "../../web/ui_test/testdata/faults.ts";
import { feedFiles } from "../../web/ui_test/testdata/feed_case.ts";
import { buildSite, type Site } from "../../tools/site/build_site.ts";
import { findDeadLinks } from "../../tools/site/check_links.ts";
import { demoToMarkdown } from "../../tools/site/demo/recorded_demo.ts";
import { renderPage } from "../../tools/site/render_page.ts";

let site: Promise<Site> | undefined;
/** Made once: it plays the demo and bundles a script. */
const built = () => site ??= buildSite();

Deno.test("every document becomes a page that says how long it takes, and no link is dead", async () => {
  const { files, deadLinks } = await built();
  assertEquals(deadLinks, []);
  for (
    const path of [
      ...["index.html", "demo.html", "recorded-demo.html"],
      ...["docs/index.html", "DESIGN.html"],
      ...["docs/run-an-issuer.html", "docs/reference/errors.html"],
      ...["core/index.html", "source/examples/audit/audit.ts.html"],
    ]
  ) assert(files.has(path), path);
  for (const [path, html] of files) {
    if (!path.endsWith(".html")) continue;
    assert(
      /<p class="time">\d+ minutes? to (?:read|play)<\/p>/.test(html),
      path,
    );
    assertEquals(html.match(/<h1 /g)?.length, 1, path);
    // Nothing is loaded from elsewhere, and no instruction to tests is shown.
    const loaded = /<(?:script|link|img|source)\b[^>]*="https?:[^>]*>/.exec(
      html,
    );
    assertEquals(loaded?.[0], undefined, path);
    assert(!html.includes("<!-- "), path);
  }
  assertStringIncludes(files.get("recorded-demo.html")!, "signature_invalid");
});

Deno.test("a link without a page, and one without a heading, are dead", () => {
  const files = new Map([
    [
      "a/b.html",
      '<h2 id="here"></h2><a href="../c.html"></a><a href="#here"></a>' +
      '<a href="#gone"></a><img src="d.svg"><a href="https://x.example/">',
    ],
    ["c.html", '<a href="a/b.html#here"></a><a href="a/b.html#there"></a>'],
  ]);
  assertEquals(findDeadLinks(files), [
    "a/b.html: #gone: there is no such heading",
    "a/b.html: d.svg does not exist",
    "c.html: a/b.html#there: there is no such heading",
  ]);
});

Deno.test("code stays text, headings get anchors, and links are led on", () => {
  const { html, sections, minutes } = renderPage(
    '# A `b`\n\n<!-- exits 1 -->\n\n```sh\nsig <x> & "y"\n```\n\n```text\n<b>\n```\n\n## Same\n\n## Same\n\n[c](c.md)\n',
    (href) => `to/${href}`,
  );
  assertStringIncludes(html, "sig &lt;x&gt; &amp; ");
  assertStringIncludes(html, "<code>&lt;b&gt;</code>");
  assertStringIncludes(html, '<a href="to/c.md">c</a>');
  assert(!html.includes("exits"));
  assertEquals(sections.map(({ id }) => id), ["a-b", "same", "same-1"]);
  assertStringIncludes(html, '<h2 id="same-1">');
  assertEquals(minutes, 1);
});

Deno.test("what the demo prints becomes steps", () => {
  assertEquals(
    demoToMarkdown(
      "\n# One\n$ sig a\nprinted\n\n# Two\n\n# That was the main job. Next,\n# x\nsig b\n",
    ).split("\n## ").slice(1),
    [
      "One\n\n```sh\nsig a\n```\n\n```text\nprinted\n```\n",
      "Two",
      "Next\n\nIn the folder of this project:\n\n```sh\nsig b\n```\n",
    ].map((text, i) => i === 1 ? `${text}\n` : text),
  );
});

/** Where screenshots go, if somebody wants to look at them. */
const SCREENSHOTS = Deno.env.get("SIG_SCREENSHOTS");

const PAGES = ["demo", "index", "docs/audit", "docs/reference/errors"];

browserTest(
  "the site reads well from a folder, wide and narrow, light and dark, and finds things",
  async (browser) => {
    const { files } = await built();
    const dir = await Deno.makeTempDir({ prefix: "sig-site-" });
    for (const [path, text] of files) {
      await Deno.mkdir(`${dir}/${path}`.replace(/\/[^/]*$/, ""), {
        recursive: true,
      });
      await Deno.writeTextFile(`${dir}/${path}`, text);
    }
    const faults: string[] = [];
    try {
      for (const width of [1280, 390]) {
        for (const colorScheme of ["light", "dark"] as const) {
          const context = await browser.newContext({
            viewport: { width, height: width === 390 ? 844 : 800 },
            colorScheme,
          });
          const page = await context.newPage();
          page.on("request", (request) => {
            if (!request.url().startsWith("file:")) faults.push(request.url());
          });
          page.on("pageerror", (error) => faults.push(error.message));
          for (const name of PAGES) {
            await page.goto(`file://${dir}/${name}.html`);
            if (name === "demo") {
              await page.getByText("1 event, each").waitFor();
            }
            const place = `${name} ${width} ${colorScheme}`;
            const wide = await page.evaluate(() =>
              document.documentElement.scrollWidth > innerWidth
            );
            if (wide) faults.push(`${place} is wider than the screen`);
            for (const fault of await findFaults(page)) {
              faults.push(`${place}: ${fault}`);
            }
            if (SCREENSHOTS) {
              const file = place.replaceAll(/[ /]/g, "-");
              await page.screenshot({
                path: `${SCREENSHOTS}/site-${file}.png`,
              });
            }
          }
          await page.keyboard.press("/");
          await page.keyboard.type("feed_rewritten");
          const first = page.locator("#results a").first();
          await first.waitFor();
          if (SCREENSHOTS) {
            await page.screenshot({
              path: `${SCREENSHOTS}/site-search-${width}-${colorScheme}.png`,
            });
          }
          await page.keyboard.press("Enter");
          await page.waitForURL(/#/);
          const heading = await page.evaluate(() =>
            document.getElementById(location.hash.slice(1))?.textContent ?? ""
          );
          assert(/^feed_rewritten\b/.test(heading), heading);
          await context.close();
        }
      }
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
    assertEquals(faults, []);
  },
);

browserTest(
  "the demo tells its story from a server of files, by keyboard, and verifies feeds of one's own",
  async (browser) => {
    const { files } = await built();
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      ({ url }) => {
        const { pathname } = new URL(url);
        const type = pathname.endsWith(".js") ? "text/javascript" : undefined;
        return new Response(files.get(pathname.slice(1)), {
          headers: {
            "content-type": type ??
              (pathname.endsWith(".css") ? "text/css" : "text/html"),
          },
        });
      },
    );
    const origin = `http://127.0.0.1:${server.addr.port}`;
    const asked: string[] = [];
    await using watched = await openPage(browser, origin, {
      path: "demo.html",
      prepare(page) {
        page.on("request", (request) => asked.push(request.url()));
        return Promise.resolve();
      },
    });
    const { page } = watched;
    for (
      const [button, answer] of [
        ["Ask whether she may deploy", "Allow"],
        ["Let her go", undefined],
        ["Ask again", "Deny"],
        ["Now forge the feed", "Not valid, so there is no answer"],
      ] as const
    ) {
      await page.getByRole("button", { name: button }).press("Enter");
      if (answer === undefined) continue;
      // The answer before it stands there until this one comes.
      await page.locator("#decision h3").getByText(answer, { exact: true })
        .waitFor();
    }
    const card = await page.locator("#story-step").innerText();
    assertStringIncludes(card, "signature_invalid");

    await page.getByRole("link", { name: "Explore a larger feed" }).press(
      "Enter",
    );
    await page.getByText("25 events, 20 relationships").waitFor();
    await page.setInputFiles(
      "#files",
      await feedFiles("signature-flipped-bit"),
    );
    // Until it is verified the verdict on the feed before it stands there.
    const notValid = page.locator("#verdict h2", { hasText: /^Not valid$/ });
    await notValid.waitFor();
    assertEquals(await notValid.innerText(), "Not valid");
    // The page is all that is ever asked for, and its script once more for each
    // feed that a worker verifies.
    assertEquals(
      [...new Set(asked)].sort(),
      ["demo.css", "demo.html", "demo.js", "icon.svg"]
        .map((name) => `${origin}/${name}`),
    );
  },
);
