/**
 * Makes a site of the documents in `dist/site`: static files that need no
 * server and no network. Run by `deno task site`.
 *
 * @module
 */

import { findDeadLinks } from "./check_links.ts";
import { DEMO_WORDS } from "../../web/ui/story/words.ts";
import { demoHtml } from "./demo/demo_html.ts";
import { makeSamples } from "./demo/make_samples.ts";
import { DEMO_PAGE, recordedDemo } from "./demo/recorded_demo.ts";
import { findPageGroups, outputOf, relativePath } from "./page_list.ts";
import { renderPage } from "./render_page.ts";
import { renderTemplate, type SiteGroup, type SitePage } from "./template.ts";

const ROOT = new URL("../../", import.meta.url);
const RECORDED = "recorded-demo.html";

/** What a site came to. */
export interface Site {
  /** The files, by their paths. */
  readonly files: ReadonlyMap<string, string>;
  /** Links that lead nowhere, one a line. */
  readonly deadLinks: readonly string[];
}

/** What the links of documents may name. */
interface Links {
  /** Documents that become pages. */
  readonly pages: ReadonlySet<string>;
  /** Other files that were named so far: they are shown too. */
  readonly asked: Set<string>;
}

/** Makes all files, without writing them. */
export async function buildSite(): Promise<Site> {
  const files = new Map<string, string>();
  const listed = await findPageGroups(ROOT);
  const links: Links = {
    pages: new Set(listed.flatMap(({ sources }) => sources)),
    asked: new Set(),
  };
  const groups: SiteGroup[] = [];
  for (const { title, sources } of listed) {
    const pages: SitePage[] = [];
    for (const source of sources) {
      const text = await readText(source);
      pages.push(toPage(source, outputOf(source), text, links));
      if (source === "README.md") {
        pages.push(
          DEMO,
          toPage("README.md", RECORDED, await recordedDemo(), links),
        );
      }
    }
    groups.push({ title, pages });
  }
  const pages = groups.flatMap((group) => group.pages);
  // What documents name of the code and the drawings comes along.
  for (const path of links.asked) {
    if (path.endsWith(".svg")) {
      files.set(path, await readText(path));
      continue;
    }
    const language = path.split(".").at(-1);
    const fence = "`".repeat(4);
    const text = `# ${path}\n\n${fence}${language}\n${await readText(
      path,
    )}\n${fence}\n`;
    const page = toPage(path, sourceOutput(path), text, links);
    files.set(page.output, renderTemplate(page, groups));
  }
  for (const page of pages) {
    files.set(page.output, renderTemplate(page, groups));
  }
  files.set(
    "site.css",
    await readText("api/pages/base.css") +
      await readText("tools/site/look/site.css"),
  );
  files.set("site.js", await bundle("tools/site/look/site.js"));
  files.set(DEMO_PAGE, demoHtml(await makeSamples(), RECORDED));
  // Without modules, since a browser takes none from a folder.
  files.set("demo.js", await bundle("web/ui/static.tsx", "--format=iife"));
  files.set(
    "demo.css",
    await readText("web/ui/style.css") +
      await readText("tools/site/look/demo.css"),
  );
  files.set("icon.svg", await readText("web/ui/icon.svg"));
  files.set("sections.js", toSections(pages));
  return { files, deadLinks: findDeadLinks(files) };
}

/** Its file is made otherwise; navigation and search know it as any page. */
const DEMO: SitePage = {
  output: DEMO_PAGE,
  name: "Demo",
  title: DEMO_WORDS.title,
  minutes: 2,
  sections: [
    { id: "", title: DEMO_WORDS.title, depth: 1, text: DEMO_WORDS.lede },
  ],
  html: "",
};

function toPage(
  source: string,
  output: string,
  text: string,
  links: Links,
): SitePage {
  const page = renderPage(
    text,
    (href) => resolveLink(source, output, href, links),
  );
  return { ...page, output, name: nameOf(source, output, page.title) };
}

/** In the navigation; the whole title stands on the page. */
function nameOf(source: string, output: string, title: string): string {
  if (output === "index.html") return "What it is";
  if (output === RECORDED) return "Demo, recorded";
  if (source === "docs/README.md") return "All guides";
  return title;
}

/** Where a link of a document leads on the site. */
function resolveLink(
  source: string,
  output: string,
  href: string,
  links: Links,
): string {
  if (/^(?:[a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${source}`);
  const path = pathname.slice(1);
  if (path === DEMO_PAGE) return relativePath(output, path);
  const file = path.endsWith("/") || path === "" ? `${path}README.md` : path;
  if (links.pages.has(file)) return relativePath(output, outputOf(file)) + hash;
  links.asked.add(file);
  return relativePath(
    output,
    file.endsWith(".svg") ? file : sourceOutput(file),
  ) +
    hash;
}

/** Where a file of the code is shown. */
function sourceOutput(path: string): string {
  return `source/${path}.html`;
}

/** For the search: place, page, title and text of every section. */
function toSections(pages: readonly SitePage[]): string {
  const rows = pages.flatMap(({ output, title: page, sections }) =>
    sections.map(({ id, title, depth, text }) => [
      depth === 1 ? output : `${output}#${id}`,
      page,
      title,
      text,
    ])
  );
  return `globalThis.SIG_SECTIONS = ${JSON.stringify(rows)};\n`;
}

async function bundle(
  entry: string,
  ...options: readonly string[]
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform=browser", "--minify"],
      ...[...options, entry],
    ],
    cwd: ROOT,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot bundle: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}

if (import.meta.main) {
  const { files, deadLinks } = await buildSite();
  for (const line of deadLinks) console.error(line);
  if (deadLinks.length > 0) Deno.exit(1);
  const target = new URL("dist/site/", ROOT);
  await Deno.remove(target, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  for (const [path, text] of files) {
    const file = new URL(path, target);
    await Deno.mkdir(new URL(".", file), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
  const pages = [...files.keys()].filter((path) => path.endsWith(".html"));
  console.log(`${pages.length} pages in ${target.pathname}`);
  console.log("Open index.html in a browser; no link is dead.");
}
