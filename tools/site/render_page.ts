/** A document as HTML, with what navigation and search need of it. @module */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import ini from "highlight.js/lib/languages/ini";
import json from "highlight.js/lib/languages/json";
import nginx from "highlight.js/lib/languages/nginx";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml } from "../../api/pages/html.ts";

const LANGUAGES = { bash, ini, json, nginx, python, typescript };
for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}
/** How fences call them. */
const ALIASES: Readonly<Record<string, string>> = {
  sh: "bash",
  ts: "typescript",
};

/** A heading and what stands below it. */
export interface Section {
  /** The anchor; empty for what stands before the second heading. */
  readonly id: string;
  readonly title: string;
  /** 1 to 6; 7 for what an item of a list explains. */
  readonly depth: number;
  /** What search looks at. */
  readonly text: string;
}

/** A document that was read. */
export interface RenderedPage {
  readonly title: string;
  /** Minutes, at least one. */
  readonly minutes: number;
  readonly sections: readonly Section[];
  /** The content, beginning with the `h1`. */
  readonly html: string;
}

/** Where the links of a document lead on the site. */
export type LinkResolver = (href: string) => string;

/** As GitHub makes them, so that links work in both places. */
export function toAnchor(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Renders Markdown. The documents are ours: HTML in them is kept. */
export function renderPage(
  markdown: string,
  resolve: LinkResolver,
): RenderedPage {
  const marked = new Marked({ gfm: true });
  const ids = new Map<string, number>();
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = nextId(ids, toAnchor(plain(text)));
        const content = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}">${content}${
          depth === 1
            ? ""
            : `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
        }</h${depth}>\n`;
      },
      listitem(item) {
        const term = termOf(item);
        const content = this.parser.parse(item.tokens);
        if (term === undefined) return `<li>${content}</li>\n`;
        return `<li id="${nextId(ids, toAnchor(term))}">${content}</li>\n`;
      },
      code: ({ text, lang }) => renderCode(text, lang ?? ""),
      html: ({ text }) => renderHtml(text, resolve),
      link({ href, tokens }) {
        const target = escapeHtml(resolve(href));
        return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
      },
      table(token) {
        // Wide tables scroll by themselves, by keyboard too.
        const { header, rows } = token;
        const row = (cells: readonly Tokens.TableCell[], tag: "td" | "th") =>
          `<tr>${
            cells.map(({ tokens }) =>
              `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`
            ).join("")
          }</tr>`;
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead>${
          row(header, "th")
        }</thead><tbody>${
          rows.map((cells) => row(cells, "td")).join("")
        }</tbody></table></div>\n`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const sections = readSections(tokens);
  return {
    title: sections[0]?.title ?? "",
    minutes: readingMinutes(markdown),
    sections,
    html: marked.parser(tokens),
  };
}

/** A second heading of the same name gets a number, as on GitHub. */
function nextId(ids: Map<string, number>, id: string): string {
  const seen = ids.get(id) ?? 0;
  ids.set(id, seen + 1);
  return seen === 0 ? id : `${id}-${seen}`;
}

function renderCode(text: string, info: string): string {
  const name = info.split(/\s/)[0]!;
  const language = ALIASES[name] ?? name;
  const code = hljs.getLanguage(language)
    ? hljs.highlight(text, { language }).value
    : escapeHtml(text);
  const kind = name === "text" ? "output" : "code";
  const label = { output: "Output", code: "Code" }[kind];
  return `<div class="block ${kind}"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>\n`;
}

/** Comments are for the tests; a picture is one of two, by the colours. */
function renderHtml(text: string, resolve: LinkResolver): string {
  const shown = text.replaceAll(/<!--[^]*?-->\s*/g, "")
    // On narrow screens a drawing scrolls by itself, by keyboard too.
    .replace(
      /<picture>[^]*<\/picture>/,
      '<div class="drawing" tabindex="0" role="group" aria-label="Drawing">$&</div>',
    );
  return shown.replaceAll(
    /(src|srcset)="([^"]+)"/g,
    (_, name: string, path: string) => `${name}="${escapeHtml(resolve(path))}"`,
  );
}

function readSections(tokens: readonly Token[]): readonly Section[] {
  const sections: Section[] = [];
  const ids = new Map<string, number>();
  let text: string[] = [];
  const close = () => {
    const last = sections.at(-1);
    if (last) sections[sections.length - 1] = { ...last, text: text.join(" ") };
    text = [];
  };
  for (const token of tokens) {
    if (token.type === "heading") {
      close();
      const title = plain(token.text);
      const id = nextId(ids, toAnchor(title));
      sections.push({ id, title, depth: token.depth, text: "" });
    } else if (token.type !== "html" && token.type !== "space") {
      for (const part of partsOf(token)) {
        if (part.term !== undefined) {
          close();
          const id = nextId(ids, toAnchor(part.term));
          const title = part.term;
          sections.push({ id, title, depth: TERM_DEPTH, text: "" });
        }
        text.push(plain(part.text));
      }
    }
  }
  close();
  return sections;
}

/** The items of a list; all else is one part. */
function partsOf(
  token: Token,
): readonly { readonly text: string; readonly term?: string | undefined }[] {
  if (token.type !== "list") return [{ text: token.raw }];
  return (token as Tokens.List).items.map((item) => ({
    text: item.text,
    term: termOf(item),
  }));
}

/** Below every heading: for the search, not for lists of contents. */
const TERM_DEPTH = 7;

/** What an item of a list explains, if it begins with it: an error's code. */
function termOf({ text }: Tokens.ListItem): string | undefined {
  return /^\*\*`([^`]+)`\*\*/.exec(text)?.[1];
}

/** Markdown without its marks, near enough to be searched and shown. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]|^#+ |\|/gm, "").replaceAll(/\s+/g, " ").trim();
}

/** Words that a person reads in a minute, code and tables among them. */
const WORDS_A_MINUTE = 200;

function readingMinutes(markdown: string): number {
  const words = markdown.replaceAll(/<!--[^]*?-->/g, "").split(/\s+/).length;
  return Math.max(1, Math.round(words / WORDS_A_MINUTE));
}
