/** The page's first script: it draws the page. @module */
/// <reference lib="dom" />

import { render } from "preact";
import { App } from "./app.tsx";
import { findKeys } from "./libraries/login.ts";
import { readConfig } from "./server/config.ts";

// A worker has no page: it is started with `more.js`, which takes from here.
if (typeof document !== "undefined") {
  const place = document.getElementById("page");
  // The browser looks for them while the page is drawn.
  const found = findKeys();
  if (place) render(<App config={readConfig()} found={found} />, place);
}
