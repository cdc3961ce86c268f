/// <reference lib="dom" />
/** The site of the documents, built and looked at. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import axe from "axe-core";
import { browserTest } from "../../web/ui_test/testdata/browser.ts";
import { buildSite, type Site } from "../../tools/site/build_site.ts";
import { findDeadLinks } from "../../tools/site/check_links.ts";
import { demoToMarkdown } from "../../tools/site/demo_page.ts";
import { renderPage } from "../../tools/site/render_page.ts";

let site: Promise<Site> | undefined;
/** Made once: it plays the demo and bundles a script. */
const built = () => site ??= buildSite();

Deno.test("every document becomes a page that says how long it takes, and no link is dead", async () => {
  const { files, deadLinks } = await built();
  assertEquals(deadLinks, []);
  for (
    const path of [
      ...["index.html", "demo.html", "docs/index.html", "DESIGN.html"],
      ...["docs/run-an-issuer.html", "docs/reference/errors.html"],
      ...["core/index.html", "source/examples/audit/audit.ts.html"],
    ]
  ) assert(files.has(path), path);
  for (const [path, html] of files) {
    if (!path.endsWith(".html")) continue;
    assert(/<p class="time">\d+ minutes? to read<\/p>/.test(html), path);
    assertEquals(html.match(/<h1 /g)?.length, 1, path);
    // Nothing is loaded from elsewhere, and no instruction to tests is shown.
    const loaded = /<(?:script|link|img|source)\b[^>]*="https?:[^>]*>/.exec(
      html,
    );
    assertEquals(loaded?.[0], undefined, path);
    assert(!html.includes("<!-- "), path);
  }
  assertStringIncludes(files.get("demo.html")!, "signature_invalid");
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
          for (const name of ["index", "docs/audit", "docs/reference/errors"]) {
            await page.goto(`file://${dir}/${name}.html`);
            const place = `${name} ${width} ${colorScheme}`;
            const wide = await page.evaluate(() =>
              document.documentElement.scrollWidth > innerWidth
            );
            if (wide) faults.push(`${place} is wider than the screen`);
            await page.evaluate(axe.source);
            const { violations } = await page.evaluate(() =>
              (globalThis as unknown as { axe: typeof axe }).axe.run()
            );
            for (const { id, nodes } of violations) {
              faults.push(`${place}: ${id}: ${nodes[0]?.html}`);
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
