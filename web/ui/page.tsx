/** The entry point of the page's script. @module */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { render } from "preact";
import { findKeys } from "../browser/key_store.ts";
import { Story } from "../demo/story.tsx";
import { App } from "./app.tsx";

const place = document.getElementById("page");
// The browser loads the keys while the page is rendered.
const found = findKeys();
const config = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name="sig-config"]')
    ?.content ?? "",
);
if (place) {
  render(
    <App
      config={config}
      found={found}
      Story={config.demo ? Story : undefined}
    />,
    place,
  );
}
