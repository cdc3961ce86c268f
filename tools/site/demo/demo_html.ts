/** The page of the demo: static files that play the story. @module */

import { escapeHtml } from "../../../api/pages/html.ts";
import type { Samples } from "../../../web/ui/story/samples.ts";
import { DEMO_WORDS } from "../../../web/ui/story/words.ts";

/** Nothing but the site's own files, and no requests at all. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Writes it. `recorded` is where the same story is told by commands. */
export function demoHtml(samples: Samples, recorded: string): string {
  const { title, lede, time } = DEMO_WORDS;
  // `<` could end the element that holds it.
  const data = JSON.stringify(samples).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title} · SIG for Deno</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="demo.css">
<script src="demo.js" defer></script>
</head>
<body>
<a class="skip-link" href="#demo">Skip to the content</a>
<header class="site-header"><div class="bar">
<p class="brand"><img src="icon.svg" alt="" width="24" height="24"><span>SIG for Deno</span></p>
<nav aria-label="Site"><a href="index.html">What it is</a><a href="docs/index.html">Guides</a></nav>
</div></header>
<main id="main">
<div id="demo" tabindex="-1">
<header class="page-head">
<h1 id="the-demo">${title}</h1>
<p class="lede">${escapeHtml(lede)}</p>
<p class="time">${time}</p>
</header>
</div>
<noscript><p>Playing it needs JavaScript. <a href="${recorded}">Read what it prints on the command line</a> instead.</p></noscript>
<p class="elsewhere"><a href="${recorded}">The same on the command line, recorded</a></p>
</main>
<script type="application/json" id="samples">${data}</script>
</body>
</html>
`;
}
